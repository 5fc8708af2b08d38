"""A client of the language server protocol, as an editor is one."""

import json
import queue
import subprocess
import threading


class Client:
    """Starts a server and speaks with it. Every wait has a deadline."""

    def __init__(self, command, timeout=60):
        self.timeout = timeout
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL)
        self.received = queue.Queue()
        self.kept = []
        self.last_id = 0
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        while True:
            length = 0
            while (line := self.server.stdout.readline()).strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if not line:
                break
            self.received.put(json.loads(self.server.stdout.read(length)))
        self.received.put(None)

    def send_bytes(self, data):
        self.server.stdin.write(data)
        self.server.stdin.flush()

    def _send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def _wait(self, wanted):
        for message in self.kept:
            if wanted(message):
                self.kept.remove(message)
                return message
        while True:
            message = self.received.get(timeout=self.timeout)
            if message is None:
                raise EOFError("the server has left")
            if wanted(message):
                return message
            self.kept.append(message)

    def notify(self, method, params):
        self._send({"method": method, "params": params})

    def request(self, method, params):
        self.last_id += 1
        number = self.last_id
        self._send({"id": number, "method": method, "params": params})
        return self._wait(lambda message: message.get("id") == number)

    def initialize(self):
        capabilities = {"textDocument": {"documentSymbol": {
            "hierarchicalDocumentSymbolSupport": True}}}
        reply = self.request("initialize", {"processId": None, "rootUri": None,
                                            "capabilities": capabilities})
        self.notify("initialized", {})
        return reply["result"]

    def open(self, uri, text, version=1):
        self.notify("textDocument/didOpen", {"textDocument": {
            "uri": uri, "languageId": "mlir", "version": version, "text": text}})

    def change(self, uri, version, *changes):
        self.notify("textDocument/didChange", {
            "textDocument": {"uri": uri, "version": version}, "contentChanges": list(changes)})

    def diagnostics(self, uri, version):
        """What is published for this version of a document."""
        return self._wait(lambda message: message.get("method") == "textDocument/publishDiagnostics"
                          and message["params"]["uri"] == uri
                          and message["params"].get("version") == version)["params"]["diagnostics"]

    def at(self, method, uri, line, character, **more):
        return self.request("textDocument/" + method, {
            "textDocument": {"uri": uri}, "position": {"line": line, "character": character},
            **more}).get("result")

    def close(self):
        """Says goodbye; returns the exit code."""
        self.request("shutdown", None)
        self.notify("exit", None)
        return self.leave()

    def leave(self):
        """Ends the input, as a lost editor does; returns the exit code."""
        self.server.stdin.close()
        code = self.server.wait(self.timeout)
        self.reader.join(self.timeout)
        self.server.stdout.close()
        return code
