internal import AmbitKit
internal import CAgent
internal import Foundation

/// Descriptors that the agent holds, and rights besides start and stop.
extension Session {
  mutating func rightsAct(_ act: String, _ request: [String: Any]) throws -> [String: Any]? {
    switch act {
    case "heldOpen":
      // Something beside what is held, by its descriptor.
      let opened = unsafe openat(try held(request), try text("name", request), O_RDONLY | O_CLOEXEC)
      guard opened >= 0 else { return Files.result(-1) }
      defer { close(opened) }
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = unsafe read(opened, &buffer, buffer.count)
      return count < 0 ? Files.result(-1) : ["done": true, "text": String(decoding: buffer[..<count], as: UTF8.self)]
    // What is held goes into a socket of the app's own, and is held no longer.
    case "send":
      let sending = try Sending()
      let descriptor = try held(request)
      let sent = sending.send(descriptor)
      let answer = Files.result(sent)
      unsafe agent_keep(request["held"] as? String ?? "held", -1)
      onTheWay = sending
      return answer
    case "receive":
      guard let sending = onTheWay else { throw Usage(sentence: "nothing is on its way") }
      onTheWay = nil
      let descriptor = sending.receive()
      let answer = Files.result(descriptor)
      sending.end()
      if descriptor >= 0 { unsafe agent_keep(request["as"] as? String ?? "held", descriptor) }
      return answer
    case "map":
      let descriptor = unsafe open(try place(request), O_RDWR | O_CLOEXEC)
      guard descriptor >= 0 else { return Files.result(-1) }
      defer { close(descriptor) }
      let memory = unsafe mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
      guard unsafe memory != MAP_FAILED else { return Files.result(-1) }
      unsafe mapped = memory
      return ["done": true]
    case "mapWrite":
      guard let memory = unsafe mapped else { throw Usage(sentence: "nothing is mapped") }
      let bytes = Array(try text("text", request).utf8).prefix(4096)
      unsafe memory.copyMemory(from: Array(bytes), byteCount: bytes.count)
      return ["done": true]
    case "mapRead":
      guard let memory = unsafe mapped else { throw Usage(sentence: "nothing is mapped") }
      let count = min(request["count"] as? Int ?? 0, 4096)
      let bytes = unsafe UnsafeRawBufferPointer(start: memory, count: count)
      return ["done": true, "text": unsafe String(decoding: bytes, as: UTF8.self)]
    case "unmap":
      guard let memory = unsafe mapped else { throw Usage(sentence: "nothing is mapped") }
      unsafe mapped = nil
      return unsafe Files.result(munmap(memory, 4096))
    case "enter": return Files.result(unsafe chdir(try place(request)))
    case "openDescriptor":
      let descriptor = try SecurityScope.openDescriptor(
        try url(request), writing: request["write"] as? Bool ?? false,
        creating: request["create"] as? Bool ?? false)
      unsafe agent_keep(request["as"] as? String ?? "held", descriptor)
      return ["done": true]
    case "opening": return ["by": try SecurityScope.opening(of: try url(request)) == .byPath ? "path" : "descriptor"]
    case "kept":
      let lists = try AccessLists.current()
      var answer: [String: Any] = ["kept": lists.futureAccessList.count, "profile": lists.profile]
      answer["maximum"] = lists.futureAccessList.maximumItemsAllowed
      answer["recentMaximum"] = lists.mostRecentlyUsedList?.maximumItemsAllowed
      answer["recent"] = lists.mostRecentlyUsedList?.entries.map { "\($0.name)\($0.isKept ? " kept" : "")" }
      return answer
    case "displayName": return ["name": try SecurityScope.displayName(of: try url(request))]
    case "hostPath":
      guard let path = try SecurityScope.hostPath(of: try url(request)) else { return ["known": false] }
      return ["known": true, "path": path]
    case "release":
      try SecurityScope.release(try url(request))
      return ["done": true]
    case "pass":
      let transfer = try SecurityScope.pass(
        try url(request), to: try text("to", request), writing: request["write"] as? Bool ?? false)
      return ["transfer": String(decoding: transfer, as: UTF8.self)]
    case "redeem":
      let url = try SecurityScope.redeem(Data(try text("transfer", request).utf8))
      return keep(url, request)
    default: return nil
    }
  }

  private func held(_ request: [String: Any]) throws -> Int32 {
    let name = request["held"] as? String ?? "held"
    let descriptor = unsafe agent_held(name)
    guard descriptor >= 0 else { throw Usage(sentence: "nothing is held as “\(name)”") }
    return descriptor
  }

  private mutating func keep(_ url: URL, _ request: [String: Any]) -> [String: Any] {
    urls[request["as"] as? String ?? "last"] = url
    return ["urls": [url.absoluteString], "path": url.path, "name": url.lastPathComponent]
  }

  private func place(_ request: [String: Any]) throws -> String {
    if let path = request["path"] as? String { return path }
    return try url(request).path
  }
}
