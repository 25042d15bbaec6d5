internal import Folders
internal import Kernel
package import PickerUI
package import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

extension FileActor {
  /// Acts in a process of their own (`ambit file-act`). It coordinates with apps, for which this program has too little in it; the files
  /// go there as descriptors.
  package static let inProcess = FileActor { act, argument, files in
    do { return try performed(act, argument, files) } catch {
      return FileActReply(sentence: "That could not be done: \(error)", isDone: false)
    }
  }

  /// Milliseconds without a byte. The act itself gives up earlier, with a reason. A copy writes a space each second, except while it waits
  /// for the disk.
  private static let patience: Int32 = 120_000
  private static let longestAnswer = 8 << 20

  private static func performed(_ act: String, _ argument: String, _ files: [Descriptor]) throws -> FileActReply {
    guard let program = Programs.tools.path else {
      throw PickerError("\(Programs.tools.rawValue) is not where this program is. Install Ambit again, whole.")
    }
    let (answers, process) = try start(program, act, argument, files)
    defer {
      kill(process, SIGKILL)
      _ = ThisProcess.wait(process)
    }
    var text: [UInt8] = []
    while text.count < longestAnswer {
      var waiting = pollfd(fd: answers.rawValue, events: Int16(POLLIN), revents: 0)
      let count = unsafe poll(&waiting, 1, patience)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw PickerError("it takes too long.") }
      let part = try answers.readPart()
      if part.isEmpty { break }
      text += part
    }
    guard case .object(let json) = try JSONValue(parsing: text) else { throw PickerError("there was no answer.") }
    return try FileActReply(json: json)
  }

  private static func start(
    _ program: String, _ act: String, _ argument: String, _ files: [Descriptor]
  ) throws(KernelError) -> (Descriptor, Int32) {
    let (answers, writing) = try Descriptor.pipe()
    var numbers: [Int32] = []
    defer { for number in numbers { close(number) } }
    for each in [writing] + files { numbers.append(try each.inheritable()) }
    // An empty value would take the next word for its own.
    let line = argument.isEmpty ? [] : ["--argument=\(argument)"]
    let words = ["ambit", "file-act", "--answer=\(numbers[0])"] + line + [act]
    return (answers, try ThisProcess.start(program, words + numbers.dropFirst().map { "\($0)" }))
  }
}

extension Descriptor {
  /// One read; empty at the end.
  fileprivate func readPart() throws(KernelError) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = try KernelError.check("read", "an answer") {
      unsafe buffer.withUnsafeMutableBytes { unsafe read(rawValue, $0.baseAddress, $0.count) }
    }
    return Array(buffer.prefix(count))
  }
}

extension FileActReply {
  package var json: JSONObject {
    [
      "sentence": .string(sentence), "done": .bool(isDone), "paths": .array(paths.map { .string($0) }),
    ]
  }

  package init(json: JSONObject) throws(FieldError) {
    self.init(
      sentence: try json.string("sentence"), isDone: try json.bool("done"), paths: try json.strings("paths"))
  }
}
