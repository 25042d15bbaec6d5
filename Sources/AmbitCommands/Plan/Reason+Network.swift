internal import Sandbox

#if canImport(Glibc)
  internal import Glibc
#endif

/// Where a connection goes that is no path: `example.org:443`, `[::1]:80`, `127.0.0.1`, or `@name`.
enum ConnectionTarget: Equatable {
  /// A name of no file (`unix(7)`).
  case abstract
  case address(isLoopback: Bool)
  /// Which address it stands for is not known here.
  case name

  /// - Returns: `nil` if it is a path.
  init?(_ text: String) {
    if text.utf8.first == UInt8(ascii: "@") {
      self = .abstract
      return
    }
    guard !text.utf8.contains(UInt8(ascii: "/")) else { return nil }
    let host: String
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      host = String(text[text.index(after: text.startIndex)..<end])
      let rest = text[text.index(after: end)...]
      guard rest.isEmpty || (rest.first == ":" && UInt16(rest.dropFirst()) != nil), Self.isAddress(host, AF_INET6)
      else {
        return nil
      }
    } else if Self.isAddress(text, AF_INET6) {
      host = text
    } else if let colon = text.lastIndex(of: ":") {
      guard UInt16(text[text.index(after: colon)...]) != nil, colon != text.startIndex else { return nil }
      host = String(text[..<colon])
    } else {
      // A name alone may be a file's.
      guard Self.isAddress(text, AF_INET) || text == "localhost" else { return nil }
      host = text
    }
    if host == "localhost" || host.hasSuffix(".localhost") {
      self = .address(isLoopback: true)
    } else if Self.isAddress(host, AF_INET) {
      self = .address(isLoopback: host.hasPrefix("127."))
    } else if Self.isAddress(host, AF_INET6) {
      self = .address(isLoopback: host == "::1")
    } else {
      self = .name
    }
  }

  private static func isAddress(_ text: String, _ family: Int32) -> Bool {
    var room = in6_addr()
    return unsafe inet_pton(family, text, &room) == 1
  }
}

extension Reason {
  init(connectingTo target: ConnectionTarget, _ planned: PlannedLaunch) throws {
    let rules = AccessRules(planned.plan)
    let network = planned.plan.network
    let denial = target == .abstract ? rules.denialOfAbstractSockets : rules.denialOfInternet
    if let denial {
      self.init(denial)
      return
    }
    for call in ["socket", "connect"] {
      let answer = try Reason(call: call, planned)
      if !answer.isAllowed {
        self = answer
        return
      }
    }
    switch (target, network) {
    case (.abstract, _):
      self.init(.allowed, rule: "sockets", reason: "the app has such names of its own; the machine's are others")
    case (_, .host):
      self.init(
        .allowed, rule: "network",
        reason: "the app has the host's network; whether something answers there is no matter of the sandbox")
    case (.address(isLoopback: true), _):
      self.init(
        .allowed, rule: "network",
        reason: "the app has a loopback of its own, on which its own processes answer, and not the machine's")
    case (.address, _):
      self.init(
        .refused, rule: "network", reason: "the app has nothing but a loopback of its own, and no way to this address",
        remedy: "[network] access = \"host\" in the policy")
    case (.name, _):
      self.init(
        .unknown, rule: "network",
        reason: "the app has nothing but a loopback of its own, and which address the name stands for is not known here"
      )
    }
  }
}
