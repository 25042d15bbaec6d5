import Folders
import Foundation
import Kernel
import Launcher
import PickerUI
import Terminal
import WebPicker
import Wire

#if canImport(Glibc)
  import Glibc
#endif

// Serves the picker's pages for a launcher, and tells it what was chosen. Nothing types its name: its arguments are the descriptors of
// the questions and of the answers, each a line of JSON.

let numbers = CommandLine.arguments.dropFirst().compactMap { Int32($0) }
guard numbers.count == 2, numbers.allSatisfy({ $0 > 2 }) else {
  try? Output.error.write("ambit-web: it is for Ambit's own use; see “ambit browse --web”.\n")
  exit(64)
}

limitMemory()

// The pages are of no use without their launcher.
let answerNumber = numbers[1]
Thread.detachNewThread {
  var reader = pollfd(fd: answerNumber, events: 0, revents: 0)
  while unsafe poll(&reader, 1, -1) < 0, errno == EINTR {}
  exit(0)
}

do {
  try await serve(questions(Descriptor(owning: numbers[0])), Descriptor(owning: numbers[1]))
} catch {
  try? Output.error.write("ambit: the picker's page cannot be served: \(error)\n")
  exit(1)
}

/// Any program on this machine may send headers without end: they end this process, and not the machine (setrlimit(2)).
func limitMemory() {
  var limit = rlimit(rlim_cur: 512 << 20, rlim_max: 512 << 20)
  // RLIMIT_DATA: of RLIMIT_AS each thread's malloc takes 64 MiB at once, which are never written.
  _ = unsafe setrlimit(2, &limit)
}

/// The launcher's questions. A thread waits for them, and holds no page up.
func questions(_ source: Descriptor) -> AsyncStream<[UInt8]> {
  AsyncStream { questions in
    Thread.detachNewThread {
      var text: [UInt8] = []
      while let part = try? source.readPart(), !part.isEmpty {
        text += part
        while let end = text.firstIndex(of: UInt8(ascii: "\n")) {
          questions.yield(Array(text[..<end]))
          text.removeFirst(end + 1)
        }
      }
      questions.finish()
    }
  }
}

func serve(_ questions: AsyncStream<[UInt8]>, _ answers: Descriptor) async throws {
  let environment = ThisProcess.environment
  let rules = try AmbitFolders.current(environment: environment).grantRules
  let server = try WebPickerServer(home: environment["HOME"], actor: .inProcess)
  var address: String?
  for await line in questions {
    guard case .object(let json) = try JSONValue(parsing: line) else {
      throw PickerError("The question is not an object.")
    }
    let question: WebPickerServer.Question
    if json.has("form") {
      question = .form(try ProviderForm(json: json))
    } else {
      let request = try PickerRequest(json: json)
      question = .picker(request, refuse: request.refusal(under: rules))
    }
    if address == nil {
      let found = try await server.start()
      try? Output.error.write("ambit: choose in your web browser: \(found)\n")
      address = found
    }
    try answers.writeAll(Array((reply(await server.ask(question)).text + "\n").utf8))
  }
  await server.stop()
}

func reply(_ chosen: WebPickerServer.Answer) -> JSONObject {
  func file(_ choice: WebPickerServer.Choice) -> JSONValue {
    .object(["path": .string(choice.path), "file": .string(choice.file)])
  }
  return switch chosen {
  case .picked(let choices): ["picked": .array(choices.map(file))]
  case .create(let folder): ["picked": .array(folder.map { [file($0)] } ?? []), "creates": .bool(true)]
  case .acted(let action, let line, let choices):
    ["picked": .array(choices.map(file)), "action": .string(action), "line": .string(line)]
  case .endApp: ["picked": .array([]), "end": .bool(true)]
  case .filled(let reply): ["button": .string(reply.button), "values": .object(reply.values.json)]
  case .cancelled: ["picked": .array([])]
  }
}

extension Descriptor {
  /// The bytes that are there, or that come next; none at the end.
  func readPart() throws(KernelError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = try KernelError.check("read", "the questions") {
      unsafe bytes.withUnsafeMutableBytes { unsafe read(rawValue, $0.baseAddress, $0.count) }
    }
    return Array(bytes.prefix(count))
  }
}

extension [String: String] {
  var json: JSONObject {
    var json = JSONObject()
    for (key, value) in self { json[key] = .string(value) }
    return json
  }
}
