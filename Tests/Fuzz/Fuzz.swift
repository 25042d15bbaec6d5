internal import Foundation
internal import Kernel
internal import ScopedAccess
internal import Wire

// Coverage-guided fuzzing (libFuzzer) of everything that an app can hand over: `make fuzz`. The first byte of an input chooses
// what the others are. A crash, a hang and an answer that contradicts itself end the run, and the input is kept.

/// One input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let start = unsafe start, count > 0 else { return 0 }
  let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  let content = Array(bytes.dropFirst())
  switch bytes[0] % 7 {
  case 0: stream(content)
  case 1: json(content)
  case 2: sealed(content)
  case 3: opened(content)
  case 4: token(content)
  case 5: url(content)
  default: call(content)
  }
  return 0
}

private let key = SealingKey(bytes: Array(repeating: 7, count: 32))

private let service = WireService(
  info: ServiceInfo(version: "0", url: "https://example.org"), interfaces: Interface.app)

/// Bytes on a socket, however they are cut: the messages do not depend on it.
private func stream(_ content: [UInt8]) {
  func messages(pieces size: Int) -> ([[UInt8]], Bool) {
    var framer = MessageFramer<Never>(limits: .app)
    var all: [[UInt8]] = []
    do {
      for begin in Swift.stride(from: 0, to: content.count, by: size) {
        framer.append(content[begin..<min(begin + size, content.count)])
        while let message = try framer.next() { all.append(message.bytes) }
      }
    } catch { return (all, true) }
    return (all, false)
  }
  let whole = messages(pieces: max(1, content.count))
  let cut = messages(pieces: 3)
  precondition(whole.0 == cut.0, "what a stream says depends on how it is cut")
  for message in whole.0 { call(message) }
}

/// A message as the broker takes it: JSON, an envelope, a method with parameters as described.
private func call(_ message: [UInt8]) {
  guard let value = try? JSONValue(parsing: message), case .object(let object) = value,
    let call = try? IncomingCall(message: object, descriptors: [])
  else { return }
  switch service.check(call) {
  case .answer(let reply): _ = written(.object(reply.parameters))
  case .call(let checked): decode(checked)
  }
}

/// What has been found to be as described can be read.
private func decode(_ call: CheckedCall) {
  let parameters = call.parameters
  switch (call.interface, call.member) {
  case ("io.ambit.Access", "Start"): _ = try? AccessInterface.StartCall(json: parameters)
  case ("io.ambit.Access", "Stop"): _ = try? AccessInterface.StopCall(json: parameters)
  case ("io.ambit.Access", "Status"): _ = try? AccessInterface.StatusCall(json: parameters)
  case ("io.ambit.Access", "Path"): _ = try? AccessInterface.ScopeCall(json: parameters)
  case ("io.ambit.Bookmarks", "Create"): _ = try? BookmarksInterface.CreateCall(json: parameters)
  case ("io.ambit.Bookmarks", "Resolve"): _ = try? BookmarksInterface.ResolveCall(json: parameters)
  case ("io.ambit.Picker", "Pick"): _ = try? PickerInterface.PickCall(json: parameters)
  default: break
  }
}

/// What is read is written so that it reads the same.
private func json(_ content: [UInt8]) {
  guard let value = try? JSONValue(parsing: content) else { return }
  let bytes = written(value)
  precondition((try? JSONValue(parsing: bytes)).map(written) == bytes, "JSON does not read back")
}

private func written(_ value: JSONValue) -> [UInt8] {
  var bytes: [UInt8] = []
  value.write(to: &bytes)
  return bytes
}

/// Bytes that nobody has sealed open nothing.
private func sealed(_ content: [UInt8]) {
  for purpose in [SealingKey.Purpose.bookmark, .reference] {
    precondition((try? Bookmark.open(content, with: key, for: purpose, app: "io.ambit.fuzz")) == nil, "a forged seal")
  }
  _ = Data(base64Encoded: String(decoding: content, as: UTF8.self))
}

/// What lies under a seal, were the key known.
private func opened(_ content: [UInt8]) {
  _ = try? Bookmark.open(key.seal(content, for: .bookmark), with: key, for: .bookmark, app: "io.ambit.fuzz")
}

private func token(_ content: [UInt8]) {
  precondition(
    key.grant(of: String(decoding: content, as: UTF8.self), instance: "instance") == nil, "a token out of nothing")
}

private func url(_ content: [UInt8]) {
  guard let format = ScopedURLFormat(url: String(decoding: content, as: UTF8.self)) else { return }
  precondition(ScopedURLFormat(url: format.url) == format, "a URL does not read back")
}
