#!/usr/bin/env python3
"""Serves a language model that torch.compile(backend="nereid") compiled: requests that wait are
one batch, of any size up to a limit, and each has a row of a cache of keys and values.

    python serve.py                   answers requests of its own, and checks them against PyTorch
    python serve.py --port 8000       answers POST requests: {"tokens": [1, 2, 3], "count": 8}
"""
import argparse
import copy
import http.server
import json
import queue
import threading
import time

import torch
import torch.nn.functional as F
from torch import nn

WORDS, WIDTH, HEADS, LAYERS, LONGEST = 128, 32, 2, 2, 64


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_1, self.norm_2 = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x, keys, values, rows, place):
        """`x` is a token a row; its keys and values go to `place` of the rows of the cache."""
        q, k, v = self.qkv(self.norm_1(x)).view(-1, 3, HEADS, WIDTH // HEADS).unbind(1)
        keys[rows, place] = k
        values[rows, place] = v
        seen = torch.arange(LONGEST, device=x.device) <= place[:, None]
        y = F.scaled_dot_product_attention(
            q[:, :, None], keys[rows].transpose(1, 2), values[rows].transpose(1, 2),
            attn_mask=seen[:, None, None])
        x = x + self.out(y.reshape(-1, WIDTH))
        return x + self.down(F.silu(self.up(self.norm_2(x))))


class Model(nn.Module):
    def __init__(self, requests):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        shape = (LAYERS, requests, LONGEST, HEADS, WIDTH // HEADS)
        self.register_buffer("keys", torch.zeros(shape))
        self.register_buffer("values", torch.zeros(shape))

    def forward(self, tokens, rows, place):
        """The most likely token after each of `tokens`, the last of requests in `rows`."""
        x = self.words(tokens) + self.places(place)
        for i, layer in enumerate(self.layers):
            x = layer(x, self.keys[i], self.values[i], rows, place)
        return (x @ self.words.weight.t()).argmax(-1)


class Request:
    def __init__(self, tokens, count):
        if not tokens or count < 1 or len(tokens) + count > LONGEST:
            raise ValueError(f"a request has 1 to {LONGEST} tokens, answer included")
        self.tokens, self.asked, self.end = list(tokens), len(tokens), len(tokens) + count
        self.place, self.done = 0, threading.Event()

    def answer(self):
        self.done.wait()
        return self.tokens[self.asked:]


class Server:
    """A thread that advances all requests by a token at a time."""

    def __init__(self, model, step, requests):
        self.model, self.step = model, step
        self.waiting, self.rows = queue.SimpleQueue(), [None] * requests
        self.batches = []
        threading.Thread(target=self._loop, daemon=True).start()

    def submit(self, tokens, count):
        request = Request(tokens, count)
        self.waiting.put(request)
        return request

    def _admit(self):
        for row, request in enumerate(self.rows):
            busy = any(other is not None for other in self.rows)
            if request is None and not (busy and self.waiting.empty()):
                self.rows[row] = self.waiting.get()

    def _loop(self):
        device = self.model.keys.device
        while True:
            self._admit()
            active = [row for row, request in enumerate(self.rows) if request is not None]
            requests = [self.rows[row] for row in active]
            self.batches.append(len(active))
            inputs = ([r.tokens[r.place] for r in requests], active, [r.place for r in requests])
            with torch.no_grad():
                found = self.step(*(torch.tensor(x, device=device) for x in inputs)).tolist()
            for row, request, token in zip(active, requests, found):
                request.place += 1
                if request.place == len(request.tokens):
                    request.tokens.append(token)
                if len(request.tokens) == request.end:
                    self.rows[row] = None
                    request.done.set()


def serve_http(server, port):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            try:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer = server.submit(asked["tokens"], asked["count"]).answer()
                status, body = 200, {"tokens": answer}
            except (KeyError, TypeError, ValueError) as error:
                status, body = 400, {"error": str(error)}
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

    print(f"serving on http://127.0.0.1:{port}")
    http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


def check(server, eager, count):
    """Requests of different lengths at once, and each alone by PyTorch."""
    draw = torch.Generator().manual_seed(0)
    prompts = [torch.randint(0, WORDS, (2 + i % 5,), generator=draw).tolist() for i in range(count)]
    start = time.perf_counter()
    requests = [server.submit(prompt, 4 + i % 3) for i, prompt in enumerate(prompts)]
    answers = [request.answer() for request in requests]
    print(f"{len(prompts)} requests in {time.perf_counter() - start:.2f} s, "
          f"batches of {min(server.batches)} to {max(server.batches)}")
    alone = Server(eager, eager, 1)
    for i, (prompt, answer) in enumerate(zip(prompts, answers)):
        expected = alone.submit(prompt, 4 + i % 3).answer()
        if answer != expected:
            raise SystemExit(f"request {i}: {answer}, not {expected}")
        print(f"request {i}: {prompt} -> {answer}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--backend", default="nereid")
    parser.add_argument("--requests", type=int, default=8, help="the most at once")
    parser.add_argument("--port", type=int)
    options = parser.parse_args()
    torch.manual_seed(0)
    model = Model(options.requests).to(options.device).eval()
    eager = copy.deepcopy(model)
    step = torch.compile(model, backend=options.backend, dynamic=True)
    server = Server(model, step, options.requests)
    if options.port is not None:
        serve_http(server, options.port)
    else:
        check(server, eager, 10)


main()
