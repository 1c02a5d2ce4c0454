"""What the gateway captured, run again: as it came, and split into other chunks."""
