#!/usr/bin/env python3
"""A scripted model on the loopback, for driving a real agent through chosen tool calls.

Speaks enough of the Messages API, the Responses API, Chat Completions and the
Gemini API for an agent to run one turn. Usage:

    scripted_model.py PORT SCRIPT.json LOG.jsonl

The port is written to standard output once it is open; 0 takes a free one. The
model ends when its standard input does, so it never outlives who started it.

SCRIPT.json is a list of {"name": TOOL, "input": {...}}; the model asks for them one
by one and then ends the turn. For Codex a step may add "custom": true (its input is
a text, not an object) or "namespace": NAME. Every request is appended to LOG.jsonl,
with "results": how many calls the agent has answered so far.
"""
import http.server
import json
import os
import sys
import threading

PORT, SCRIPT, LOG = int(sys.argv[1]), json.load(open(sys.argv[2])), open(sys.argv[3], "a")


def results_so_far(req):
    n = 0
    for m in req.get("messages", []) or []:
        if m.get("role") == "tool":
            n += 1
        content = m.get("content")
        if isinstance(content, list):
            n += sum(1 for c in content if isinstance(c, dict) and c.get("type") == "tool_result")
    for item in req.get("input", []) or []:
        if isinstance(item, dict) and str(item.get("type", "")).endswith("_output"):
            n += 1
    for c in req.get("contents", []) or []:
        n += sum(1 for p in c.get("parts", []) if "functionResponse" in p)
    return n


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *a):
        pass

    def send(self, body, kind="application/json", code=200):
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        body = body.encode()
        self.send_response(code)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_HEAD(self):
        self.send("")

    def do_GET(self):
        if "models" in self.path:
            self.send({"object": "list", "data": [{"id": "mock", "object": "model"}], "models": []})
        else:
            self.send({})

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            req = json.loads(raw)
        except ValueError:
            req = {}
        tools = [t.get("name") or (t.get("function") or {}).get("name") or t.get("type") for t in req.get("tools", []) or []]
        if "contents" in req:
            tools = [d.get("name") for t in req.get("tools", []) or [] for d in t.get("functionDeclarations", []) or []]
        for item in req.get("input", []) or []:
            if isinstance(item, dict) and item.get("type") == "additional_tools":
                tools += [t.get("name") for t in item.get("tools", [])]
        n = results_so_far(req)
        LOG.write(json.dumps({"path": self.path, "results": n, "tools": tools, "request": req}) + "\n")
        LOG.flush()
        step = SCRIPT[n] if tools and n < len(SCRIPT) else None
        if "count_tokens" in self.path or "countTokens" in self.path:
            return self.send({"input_tokens": 10, "totalTokens": 10})
        if "/messages" in self.path:
            return self.reply_messages(req, step, n)
        if "/responses" in self.path:
            return self.reply_responses(req, step, n)
        if "/chat/completions" in self.path:
            return self.reply_chat(req, step, n)
        if "enerateContent" in self.path:
            return self.reply_gemini(req, step, n)
        self.send({})

    def sse(self, events, named=True):
        text = "".join((f"event: {e['type']}\n" if named else "") + f"data: {json.dumps(e)}\n\n" for e in events)
        self.send(text, "text/event-stream")

    def reply_messages(self, req, step, n):
        msg = {"id": f"msg_{n}", "type": "message", "role": "assistant", "model": req.get("model", "m"), "content": [], "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
        block = {"type": "tool_use", "id": f"toolu_{n}", "name": step["name"], "input": step["input"]} if step else {"type": "text", "text": "done"}
        stop = "tool_use" if step else "end_turn"
        if not req.get("stream"):
            return self.send({**msg, "content": [block], "stop_reason": stop})
        start = {**block, "input": {}} if step else {"type": "text", "text": ""}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])} if step else {"type": "text_delta", "text": "done"}
        self.sse([
            {"type": "message_start", "message": msg},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
        ])

    def reply_responses(self, req, step, n):
        resp = {"id": f"resp_{n}", "object": "response", "created_at": 0, "status": "in_progress", "model": req.get("model", "m"), "output": []}
        if step:
            item = {"type": "function_call", "id": f"fc_{n}", "call_id": f"call_{n}", "name": step["name"], "arguments": json.dumps(step["input"]), "status": "completed"}
            if step.get("custom"):
                item = {"type": "custom_tool_call", "id": f"ct_{n}", "call_id": f"call_{n}", "name": step["name"], "input": step["input"], "status": "completed"}
            if step.get("namespace"):
                item["namespace"] = step["namespace"]
        else:
            item = {"type": "message", "id": f"m_{n}", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "done", "annotations": []}]}
        done = {**resp, "status": "completed", "output": [item], "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}}
        if not req.get("stream"):
            return self.send(done)
        self.sse([
            {"type": "response.created", "response": resp},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": done},
        ])

    def reply_chat(self, req, step, n):
        call = [{"index": 0, "id": f"call_{n}", "type": "function", "function": {"name": step["name"], "arguments": json.dumps(step["input"])}}] if step else None
        base = {"id": f"c_{n}", "created": 0, "model": req.get("model", "m")}
        finish = "tool_calls" if step else "stop"
        message = {"role": "assistant", "content": None if step else "done"}
        if call:
            message["tool_calls"] = call
        if not req.get("stream"):
            return self.send({**base, "object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}})
        chunks = [
            {**base, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {**base, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}},
        ]
        self.send("".join(f"data: {json.dumps(c)}\n\n" for c in chunks) + "data: [DONE]\n\n", "text/event-stream")

    def reply_gemini(self, req, step, n):
        part = {"functionCall": {"name": step["name"], "args": step["input"]}} if step else {"text": "done"}
        body = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}], "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}, "modelVersion": "mock"}
        if "stream" in self.path:
            return self.send(f"data: {json.dumps(body)}\n\n", "text/event-stream")
        self.send(body)


def end_with_stdin():
    sys.stdin.read()
    os._exit(0)


server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
print(server.server_address[1], flush=True)
threading.Thread(target=end_with_stdin, daemon=True).start()
server.serve_forever()
