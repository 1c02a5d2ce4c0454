"""The commands of `toolwire`, one file each: read arguments, ask the library, print."""
