import Foundation
import Kernel
import Launcher
import TestSupport
import Testing

@testable import AmbitCommands
@testable import Audit

@Suite struct `An export to a file` {
  @Test(arguments: [ExportFormat.jsonl, .cloudevents, .ocsf, .otlp])
  func `AUD-10: goes on from wherever the file was torn, and has each event once`(format: ExportFormat) throws {
    let log = try SmallLog(4)
    let whole = log.whole(format)
    let file = "\(log.folder.path)/out"
    // Every place in the first line and in the last, and some of those between.
    var places = Set(0...40)
    places.formUnion(stride(from: 40, to: whole.count - 60, by: 61))
    places.formUnion((whole.count - 60)...whole.count)
    for size in places.sorted() {
      try Data(whole.prefix(size)).write(to: URL(fileURLWithPath: file))
      try log.export(format, to: file)
      #expect(try content(file) == whole, "cut at byte \(size)")
    }
    try log.export(format, to: file)
    #expect(try content(file) == whole, "nothing new, nothing written")
  }

  @Test func `is of one log, one format and nothing else, or the file is left as it is`() throws {
    let (log, other) = (try SmallLog(5), try SmallLog(5, seed: 1_000_000))
    let file = "\(log.folder.path)/out"
    var foreign = [other.whole(.jsonl), log.whole(.ocsf), log.whole(.cloudevents), Array("hello".utf8)]
    // Its beginning is that of each line, and there is no line end in it.
    foreign.append(Array(#"{"my":"precious settings","a":[1,2,3]}"#.utf8))
    foreign += [
      Array("hello\n".utf8), Array("\n".utf8), Array("{}\n".utf8), [0], log.whole(.jsonl) + Array("\nx\n".utf8),
    ]
    // More than this log has.
    var further = try #require(log.events.last)
    further.sequence = 9
    var line: [UInt8] = []
    ExportEncoder(.jsonl, log.source).append(further, to: &line)
    foreign.append(line)
    for bytes in foreign {
      try Data(bytes).write(to: URL(fileURLWithPath: file))
      #expect(throws: Launcher.Failure.self) { try log.export(.jsonl, to: file) }
      #expect(try content(file) == bytes)
    }
    #expect(throws: Launcher.Failure.self) { try log.export(.jsonl, to: log.folder.path) }
  }

  @Test(arguments: [ExportFormat.jsonl, .cloudevents, .ocsf, .otlp])
  func `AUD-10: does not go on from a log that was put back and has grown again`(format: ExportFormat) throws {
    let log = try SmallLog(6)
    let file = "\(log.folder.path)/out"
    try log.export(format, to: file)
    // Another line, as a later version of Ambit might write it, is no other event.
    let mended = String(decoding: try content(file), as: UTF8.self).replacing("workstation", with: "another host")
    try Data(mended.utf8).write(to: URL(fileURLWithPath: file))
    try log.export(format, to: file)
    // The same numbers by the same key, of other times.
    let grown = try SmallLog(9, seed: 1_000_000, key: log)
    let torn = Array(mended.utf8) + Array("{".utf8)
    for bytes in [Array(mended.utf8), torn] {
      try Data(bytes).write(to: URL(fileURLWithPath: file))
      let error = #expect(throws: Launcher.Failure.self) { try grown.export(format, to: file) }
      #expect(error?.description.contains("is another than the log") == true, "\(error?.description ?? "")")
      #expect(try content(file) == bytes)
    }
  }

  @Test func `that was moved away goes on in a new one, where the state says`() throws {
    let log = try SmallLog(5)
    let (file, state) = ("\(log.folder.path)/out", "\(log.folder.path)/state")
    try log.export(.jsonl, to: file, state: state)
    try FileManager.default.moveItem(atPath: file, toPath: file + ".1")
    try log.export(.jsonl, to: file, state: state)
    #expect(try content(file).isEmpty)
    try log.export(.jsonl, to: file)
    #expect(try content(file) == log.whole(.jsonl), "without the state it is a new export")
  }

  @Test func `is written by one at a time`() throws {
    let log = try SmallLog(2)
    let file = "\(log.folder.path)/out"
    let first = try FileDestination(path: file, format: .jsonl)
    #expect(throws: Launcher.Failure.self) { try FileDestination(path: file, format: .jsonl) }
    _ = first
    #expect(try log.folder.mode("out") == 0o600)
  }
}

@Suite struct `The state of an export` {
  @Test func `comes back as it was, and is a file for its owner`() throws {
    let log = try SmallLog(3)
    let path = "\(log.folder.path)/state"
    let event = try #require(log.events.last)
    let state = ExportState(
      event: EventIdentifier(log: log.source.log, sequence: event.sequence), digest: try event.digest())
    #expect(ExportState(Array(state.text.utf8)) == state)
    let file = try StateFile(path: path)
    #expect(try file.read() == nil)
    // One that died after it made the new file left it behind.
    try log.folder.write("state.new", "half")
    try file.write(state)
    #expect(try file.read() == state)
    #expect(try log.folder.mode("state") == 0o600)
    #expect(throws: Launcher.Failure.self, "another export has it") { try StateFile(path: path) }
  }

  @Test(arguments: ["", "x", "{}", #"{"ambitExport":2}"#, #"{"ambitExport":1,"digest":"0","log":"0","sequence":0}"#])
  func `is left as it is when it is none`(text: String) throws {
    let log = try SmallLog(3)
    let path = try log.folder.write("state", text)
    #expect(throws: Launcher.Failure.self) { try log.export(.jsonl, to: "\(log.folder.path)/out", state: path) }
    #expect(try content(path) == Array(text.utf8))
    #expect(try content("\(log.folder.path)/out").isEmpty)
  }

  @Test func `of another log, or of entries that are others now, delivers nothing`() throws {
    let (log, other) = (try SmallLog(5), try SmallLog(5, seed: 1_000_000))
    let state = "\(log.folder.path)/state"
    let out = "\(log.folder.path)/out"
    try log.export(.jsonl, to: out, state: state)
    #expect(throws: Launcher.Failure.self) { try other.export(.jsonl, to: out + "2", state: state) }
    #expect(try content(out + "2").isEmpty)
    let event = try #require(log.events.last)
    let texts = [
      // The entry is not in the log, or it is another one.
      ExportState(event: EventIdentifier(log: log.source.log, sequence: 6), digest: try event.digest()).text,
      ExportState(event: EventIdentifier(log: log.source.log, sequence: 4), digest: try event.digest()).text,
    ]
    for text in texts {
      try log.folder.write("state", text)
      #expect(throws: Launcher.Failure.self) { try log.export(.jsonl, to: out + "3", state: state) }
      #expect(try content(out + "3").isEmpty)
    }
  }
}
