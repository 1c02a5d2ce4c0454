"""An upstream that misbehaves on purpose. Run: python -m tests.gateway.scripted_upstream PORT

It speaks HTTP/1.1 by hand, because a proper server would not let it misbehave. The request's `model`
says what happens: the name of an answer in `scripted_answers`, perhaps with `+` and faults. Names with
`>` between them are the answers of one turn: the first, the one after a tool's result, and so on.
What stands before a `:` is only a name. `tell` repeats the last message, `request` the whole request.
`given` does what the request's `x_given` says: its `head` (seconds to wait before), its `status`, its
`type`, and its `body`, a list of texts in Latin-1 (so that they can be any bytes) and of seconds to
wait. With `no-messages` behind the port, there is no `/v1/messages`. `+ollama`, `+vllm` and
`+llamacpp` refuse tools as these servers do; `reminded` calls only when it is told that it did not. With
`hides-tools` or `shows-tools` behind the port, `/props` says so, as llama.cpp's does. What was asked of
each model is told by `/v1/asked`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from typing import Any

from .scripted_answers import ANSWERS, OUTPUTS, more, start
from .scripted_messages import MESSAGES, echoed, message_events, whole_message

ANSWERED = ("/v1/chat/completions", "/v1/responses", "/v1/messages")

#: How servers refuse tools: the status, and what they say.
NO_TOOLS = {
    "ollama": (400, "registry.ollama.ai/library/gemma3:latest does not support tools"),
    "vllm": (
        400,
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    ),
    "llamacpp": (500, "tools param requires --jinja flag"),
}

#: A model of which only `/v1/models` tells what it is.
LLAMA = "default:llama>plain"

seen: Counter[str] = Counter()
asked: dict[str, list[Any]] = {}


async def main(port: int) -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", port, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while await one(reader, writer):
            pass
    except (ConnectionError, asyncio.IncompleteReadError):
        pass  # the other side left: there is nobody to tell
    finally:
        writer.close()


async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = [tuple(line.split(": ", 1)) for line in lines if line]
    by_name = {name.lower(): value for name, value in headers}
    body = await reader.readexactly(int(by_name.get("content-length", "0")))
    method, target, _ = first.split(" ")
    if target.startswith("/v1/messages") and "no-messages" in sys.argv:
        seen["no such route"] += 1
        await whole(writer, {"detail": "Not Found"}, 404)
        return True
    if target.startswith("/v1/moved/"):
        await whole(writer, {}, int(target[10:13]), moved(writer))
        return True
    if target.startswith("/props"):
        seen[target] += 1
        shows = "shows-tools" in sys.argv
        known = shows or "hides-tools" in sys.argv
        told = {"chat_template_caps": {"supports_tools": shows}} if known else {}
        await whole(writer, told, 200 if known else 404)
        return True
    if target == "/v1/asked":
        await whole(writer, asked)
        return True
    if target.partition("?")[0] not in ANSWERED:
        models = ["weather>tell", "plain", LLAMA] if target == "/v1/models" else []
        told = {
            "data": models,
            "method": method,
            "target": target,
            "headers": headers,
            "body": body.decode(),
        }
        await whole(
            writer,
            told | {"seen": dict(seen), "data": list(map(listed, models))},
            headers=["Set-Cookie: a=b", "Keep-Alive: 5"],
        )
        return True
    request = json.loads(body)
    if "+key" in request["model"] and by_name.get("authorization") != "Bearer right":
        await whole(writer, {"error": {"message": "Wrong key."}}, 401)
        return True
    return await script(writer, request, target)


def listed(model: str) -> dict[str, Any]:
    """A model of `/v1/models`, as vLLM lists one that has another name there than its own."""
    real = {"root": "meta-llama/Llama-3.3-70B-Instruct"} if model == LLAMA else {}
    return {"id": model, **real}


async def script(writer: asyncio.StreamWriter, request: dict[str, Any], target: str) -> bool:
    names, *faults = request["model"].rpartition(":")[2].split("+")
    faults += request.get("x_faults", ())  # faults of this request, not of the model
    asked.setdefault(request["model"], []).append(request)
    for fault in faults:
        if fault in NO_TOOLS and request.get("tools"):
            status, sentence = NO_TOOLS[fault]
            await whole(writer, {"error": {"message": sentence, "type": "api_error"}}, status)
            return True
    name = of_this_round(names.split(">"), request)
    if name == "reminded":  # it calls when it is asked a second time
        told = "You have not called a tool" in json.dumps(request)
        name = "text" if told else "plain"
    seen[request["model"]] += 1
    times = seen[request["model"]]
    for fault in faults:
        if fault.startswith("status"):  # status429x2: twice, then well
            status, _, count = fault[6:].partition("x")
            if times <= int(count or "1000000"):
                await whole(writer, {"error": {"message": "no"}}, int(status), ["Retry-After: 0"])
                return True
        if fault.startswith("redirect"):
            await whole(writer, {}, int(fault[8:]), moved(writer))
            return True
        if fault.startswith("bare"):  # bare503x1: the same, without a Retry-After
            status, _, count = fault[4:].partition("x")
            if times <= int(count or "1000000"):
                await whole(writer, {"error": {"message": "no"}}, int(status))
                return True
        if fault.startswith("refuse") and times <= int(fault[6:]):
            return False
        if fault == "hang":
            await asyncio.sleep(600)
    if name == "given":
        return await given(writer, request)
    if name == "echo":
        said = json.dumps(request)
        native = target.startswith("/v1/messages")
        made = echoed(said) if native else answer_with({"content": said})
        await whole(writer, made)
        return True
    if "endless" in faults:
        return await endless(writer, bool(request.get("stream")))
    if not request.get("stream"):
        if "die" in faults:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
            writer.write(b'Content-Length: 1000\r\n\r\n{"choices": [')
            await writer.drain()
            return False
        await whole(writer, whole_answer(name, target))
        return True
    if name in ("tell", "request"):
        text = request["messages"][-1]["content"] if name == "tell" else json.dumps(request)
        size = 1 if name == "tell" else 500  # a whole request may be long
        pieces = [text[i : i + size] for i in range(0, len(text), size)]
        events = chat_events({"deltas": [{"content": one} for one in pieces], "reason": "stop"})
        return await stream(writer, events, faults)
    return await stream(writer, stream_bytes(name, target), faults)


def moved(writer: asyncio.StreamWriter) -> list[str]:
    """Headers that tell where this server is."""
    host, port = writer.get_extra_info("sockname")
    return [f"{name}: http://{host}:{port}/v1/x" for name in ("Location", "Content-Location")]


def of_this_round(names: list[str], request: dict[str, Any]) -> str:
    """The answer after so many rounds of calls; the last one is for all that follow."""
    rounds = 0
    for message in request.get("messages", ()):
        text = str(message.get("content") or "")  # calls and results may be words
        called = message.get("tool_calls") or "<tool_call>" in text or "add(" in text
        told = "<tool_response>" in text or "Result of" in text
        if message["role"] == "user" and not told:
            rounds = 0
        elif message["role"] == "assistant" and called:
            rounds += 1
    return names[min(rounds, len(names) - 1)]


def answer_with(message: dict[str, Any], reason: str = "stop") -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant"} | message, "finish_reason": reason}
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": usage,
        "x_unknown": [1],
    }


def whole_answer(name: str, target: str) -> dict[str, Any]:
    if target.startswith("/v1/responses"):
        return response(OUTPUTS[name])
    if target.startswith("/v1/messages"):
        return whole_message(*MESSAGES[name])
    answer = ANSWERS[name]
    return answer_with(answer["message"], answer["reason"])


def response(output: list[Any], status: str = "completed") -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": status,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def stream_bytes(name: str, target: str) -> list[bytes]:
    """The events of a stream, as bytes."""
    if target.startswith("/v1/responses"):
        return [event_bytes(event) for event in response_events(OUTPUTS[name])]
    if target.startswith("/v1/messages"):
        return [event_bytes(event) for event in message_events(*MESSAGES[name])]
    return chat_events(ANSWERS[name])


def chat_events(answer: dict[str, Any]) -> list[bytes]:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    events = [b": keep-alive\n\n"]
    deltas = [{"role": "assistant", "content": None}, *answer["deltas"]]
    for delta in deltas:
        choice = {"index": 0, "delta": delta, "finish_reason": None}
        events.append(event_bytes(head | {"choices": [choice]}, named=False))
    end = {"index": 0, "delta": {}, "finish_reason": answer["reason"]}
    events.append(event_bytes(head | {"choices": [end]}, named=False))
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    events.append(event_bytes(head | {"choices": [], "usage": usage}, named=False))
    return [*events, b"data: [DONE]\n\n"]


def response_events(output: list[Any]) -> list[dict[str, Any]]:
    """The events of the Responses API for some output, as a server sends them."""
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": response([], "in_progress")}
    ]
    for index, item in enumerate(output):
        about = {"item_id": item.get("id"), "output_index": index}
        if item["type"] == "function_call":
            start = item | {"status": "in_progress"}
            if "arguments" in item:
                start["arguments"] = ""
            events.append(
                {"type": "response.output_item.added", "output_index": index, "item": start}
            )
            text = item.get("arguments")
            for piece in text if isinstance(text, str) else ():
                kind = "response.function_call_arguments.delta"
                events.append({"type": kind, **about, "delta": piece})
            if text is not None:
                kind = "response.function_call_arguments.done"
                events.append({"type": kind, **about, "arguments": text})
        else:
            part = item["content"][0]
            empty = item | {"content": [], "status": "in_progress"}
            events.append(
                {"type": "response.output_item.added", "output_index": index, "item": empty}
            )
            about |= {"content_index": 0}
            events.append(
                {"type": "response.content_part.added", **about, "part": part | {"text": ""}}
            )
            for piece in part["text"]:
                events.append(
                    {"type": "response.output_text.delta", **about, "delta": piece, "logprobs": []}
                )
            done = {"type": "response.output_text.done", **about, "text": part["text"]}
            events.append(done | {"logprobs": []})
            events.append({"type": "response.content_part.done", **about, "part": part})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.completed", "response": response(output)})
    return [event | {"sequence_number": i} for i, event in enumerate(events)]


def event_bytes(event: dict[str, Any], named: bool = True) -> bytes:
    name = f"event: {event['type']}\n" if named else ""
    return f"{name}data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


async def stream(writer: asyncio.StreamWriter, events: list[bytes], faults: list[str]) -> bool:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
    writer.write(head + b"Transfer-Encoding: chunked\r\n\r\n")
    if "die" in faults:
        events = events[: len(events) // 2]
    if "cutoff" in faults:  # it ends in the middle, as if all were well
        events = events[: len(events) // 2] + ([b"data: [DONE]\n\n"] if "done" in faults else [])
    if "giant" in faults:
        events = [b"data: " + b"x" * 20_000_000 + b"\n\n", *events]
    if "error" in faults:
        events = [*events[:2], event_bytes({"error": {"message": "out of memory"}}, named=False)]
    pieces = events
    if "bytes" in faults:  # one byte at a time: every character is cut, every line too
        pieces = [bytes([byte]) for byte in b"".join(events)]
    if "crlf" in faults:
        pieces = [event.replace(b"\n", b"\r\n") for event in events]
    for i, piece in enumerate(pieces):
        if "stall" in faults and i == len(pieces) // 2:
            await asyncio.sleep(600)
        writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        await writer.drain()
        if "slow" in faults:
            await asyncio.sleep(0.02)
    if "die" in faults:
        writer.transport.abort()
        return False
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


async def given(writer: asyncio.StreamWriter, request: dict[str, Any]) -> bool:
    """An answer as the request has it. Where `picky` is set, tools that are no functions are refused."""
    wanted = request["x_given"]
    await asyncio.sleep(wanted.get("head", 0))
    kinds = {tool.get("type") for tool in request.get("tools") or ()}
    if wanted.get("picky") and not kinds <= {"function"}:
        await whole(writer, {"error": {"message": f"unknown tools: {sorted(kinds)}"}}, 400)
        return True
    kind = wanted.get("type", "text/event-stream")
    writer.write(f"HTTP/1.1 {wanted.get('status', 200)} X\r\nContent-Type: {kind}\r\n".encode())
    writer.write(b"Transfer-Encoding: chunked\r\n\r\n")
    for part in wanted["body"]:
        if isinstance(part, (int, float)):
            await asyncio.sleep(part)
            continue
        data = part.encode("latin-1")
        writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await writer.drain()
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


async def endless(writer: asyncio.StreamWriter, streamed: bool) -> bool:
    """An answer that goes on until nobody reads it: arguments of a call, or a whole answer's text."""
    kind = b"text/event-stream" if streamed else b"application/json"
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: " + kind + b"\r\n\r\n")
    begun = {"deltas": [start(0, "c1", "add", arguments="{"), more(0, "x" * 10_000)], "reason": ""}
    *events, piece = chat_events(begun)[:-3] if streamed else [b'{"choices": "', b"x" * 10_000]
    writer.write(b"".join(events))
    for _ in range(40_000):
        writer.write(piece)
        await writer.drain()
    seen["endless to the end"] += 1
    return False


async def whole(
    writer: asyncio.StreamWriter, body: Any, status: int = 200, headers: list[str] | None = None
) -> None:
    data = json.dumps(body, ensure_ascii=False).encode()
    lines = [f"HTTP/1.1 {status} X", "Content-Type: application/json", *(headers or [])]
    lines.append(f"Content-Length: {len(data)}")
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
    await writer.drain()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
