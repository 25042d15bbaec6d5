"""An OTLP/HTTP receiver made of PyPI's opentelemetry-proto: it parses what Ambit sends as the protocol's own definitions
have it (unknown fields are errors), keeps the records, and misbehaves as collectors do: answers 503 now and then, closes
without an answer, and in between stores the records and dies before it says so.

  otlp_receiver.py BIN HOME   sends HOME's log to itself with BIN/ambit-tools and checks what has come
"""

import http.server
import json
import os
import subprocess
import sys
import threading

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2 as service
from opentelemetry.proto.logs.v1 import logs_pb2


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    records = []
    requests = 0
    faults = {}

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        cls = type(self)
        number, cls.requests = cls.requests, cls.requests + 1
        fault = cls.faults.pop(number, None)
        if self.path != "/v1/logs" or self.headers["Content-Type"] != "application/json":
            return self.answer(400, {"message": "not OTLP/HTTP with JSON"})
        if fault == "busy":
            return self.answer(503, {"message": "busy"}, {"Retry-After": "0"})
        if fault == "silent":
            self.close_connection = True
            return self.connection.close()
        try:
            # Strict: a name that the protocol does not have is an error.
            request = json_format.Parse(body, service.ExportLogsServiceRequest())
        except json_format.ParseError as error:
            return self.answer(400, {"message": str(error)})
        for resource in request.resource_logs:
            for scope in resource.scope_logs:
                cls.records += [(resource.resource, record) for record in scope.log_records]
        if fault == "stored":
            # It has them, and nobody learns of it.
            self.close_connection = True
            return self.connection.close()
        self.answer(200, json_format.MessageToDict(service.ExportLogsServiceResponse()))

    def answer(self, status, value, headers={}):
        body = json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def attributes(record):
    return {pair.key: pair.value.string_value or pair.value.int_value for pair in record.attributes}


def main(binaries, home):
    environment = {**os.environ, "AMBIT_HOME": home}
    export = [f"{binaries}/ambit-tools", "audit", "export"]
    events = [
        json.loads(line)
        for line in subprocess.run(
            [*export, "--as", "jsonl", "--to", "-"], env=environment, check=True, capture_output=True
        ).stdout.splitlines()
    ]
    Receiver.faults = {0: "busy", 1: "silent", 2: "stored"} | ({4: "busy"} if len(events) > 500 else {})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1/logs"
    state = f"{home}/otlp.state"
    follower = subprocess.Popen(
        [*export, "--as", "otlp", "--http", url, "--state", state, "--follow"], env=environment
    )
    done = threading.Event()
    while not done.wait(0.05):
        assert follower.poll() is None, "the export ended"
        try:
            with open(state) as file:
                if json.load(file)["sequence"] >= events[-1]["sequence"]:
                    done.set()
        except FileNotFoundError:
            pass
    follower.kill()
    follower.wait()

    times = {}
    for resource, record in Receiver.records:
        found = attributes(record)
        times.setdefault(found["log.record.uid"], []).append((resource, record, found))
    assert not Receiver.faults, f"these did not happen: {Receiver.faults}"
    assert set(times) == {f"{event['log']}/{event['sequence']}" for event in events}, "an event is missing"
    for event in events:
        resource, record, found = times[f"{event['log']}/{event['sequence']}"][0]
        assert attributes(resource)["service.name"] == "ambit"
        assert found["ambit.kind"] == event["kind"] and found["ambit.result"] == event["result"]
        assert found.get("file.path") == event.get("document", {}).get("path")
        assert found["ambit.time"] == event["time"] and record.time_unix_nano % 1_000_000_000 // 1000 == int(
            event["time"][20:26]
        )
        assert record.severity_number in (
            logs_pb2.SEVERITY_NUMBER_INFO,
            logs_pb2.SEVERITY_NUMBER_WARN,
            logs_pb2.SEVERITY_NUMBER_ERROR,
        )
        assert record.event_name == "io.ambit.audit." + event["kind"]
    again = sum(len(copies) - 1 for copies in times.values())
    print(f"OTLP: {len(events)} events in {Receiver.requests} requests; none missing, {again} came twice, known by their uid")


if __name__ == "__main__":
    main(*sys.argv[1:])
