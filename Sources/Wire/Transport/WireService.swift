internal import Synchronization

#if AMBIT_MUTANTS
  internal import Kernel
#endif

/// A server's description of itself (`org.varlink.service.GetInfo`).
package struct ServiceInfo: Sendable {
  package let vendor: String
  package let product: String
  package let version: String
  package let url: String

  package init(vendor: String = "Ambit", product: String = "Ambit broker", version: String, url: String) {
    self.vendor = vendor
    self.product = product
    self.version = version
    self.url = url
  }
}

/// A call with interface, method and parameters as described.
///
/// A class: it goes through many hands and is never changed.
package final class CheckedCall: Sendable {
  /// For example `io.ambit.Access`.
  package let interface: String
  /// For example `Start`.
  package let member: String
  package let call: IncomingCall
  package var parameters: JSONObject { call.parameters }

  init(interface: String, member: String, call: IncomingCall) {
    (self.interface, self.member, self.call) = (interface, member, call)
  }
}

/// The interfaces that one socket serves, and the check of every call against them. Others do not exist there.
package struct WireService: Sendable {
  package enum Outcome: Sendable {
    /// For the server's own code.
    case call(CheckedCall)
    /// Answered already: introspection, or a call that is refused.
    case answer(Reply)
  }

  package let info: ServiceInfo
  private let interfaces: [String: Interface]
  private let names: [String]
  /// Methods that answer more than once and make no sense otherwise.
  private let streaming: Set<String>
  private let known = Known()

  /// Methods that were called, by their full names.
  private final class Known: Sendable {
    let methods = Mutex<[String: Target]>([:])
  }

  /// A method, found.
  private final class Target: Sendable {
    let interface: Interface
    let member: String
    let parameters: VarlinkStructure
    let isStreaming: Bool

    init(_ interface: Interface, _ member: String, _ parameters: VarlinkStructure, isStreaming: Bool) {
      (self.interface, self.member, self.parameters) = (interface, member, parameters)
      self.isStreaming = isStreaming
    }
  }

  /// Methods that take no time. A client may do without their answer.
  private static let oneway: Set<String> = [
    "io.ambit.Access.Stop", "io.ambit.Access.Release", "io.ambit.Coordination.Done", "io.ambit.Coordination.Leave",
    "io.ambit.Provider.Part",
  ]

  package init(
    info: ServiceInfo, interfaces: [Interface],
    streaming: Set<String> = [
      "io.ambit.Launcher.Prompts", "io.ambit.Access.Events", "io.ambit.Coordination.Present", "io.ambit.Query.Run",
      "io.ambit.Provider.Serve", "io.ambit.Locations.Fetch",
    ]
  ) {
    self.info = info
    let all = [.service] + interfaces
    names = all.map(\.name)
    self.interfaces = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    self.streaming = streaming
  }

  /// Checks a call, and answers it when it asks about the service itself.
  package func check(_ call: IncomingCall) -> Outcome {
    do throws(ErrorReply) {
      let checked = try resolve(call)
      guard checked.interface == "org.varlink.service" else { return .call(checked) }
      return .answer(Reply(try introspect(checked)))
    } catch {
      return .answer(Reply(error))
    }
  }

  /// Whether an answer is as the interface describes it; its fault otherwise. For tests and assertions: the
  /// server's own answers are its own responsibility.
  package func fault(in reply: Reply, to method: String) -> String? {
    guard let (interface, member) = split(method), let description = interfaces[interface] else { return method }
    if let error = reply.error {
      guard let (origin, name) = split(error), let structure = interfaces[origin]?.errors[name] else { return error }
      return interfaces[origin]?.fault(in: reply.parameters, against: structure)
    }
    guard let structure = description.methods[member]?.reply else { return method }
    return description.fault(in: reply.parameters, against: structure)
  }

  private func split(_ method: String) -> (interface: String, member: String)? {
    guard let dot = method.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
    return (String(method[..<dot]), String(method[method.index(after: dot)...]))
  }

  private func resolve(_ call: IncomingCall) throws(ErrorReply) -> CheckedCall {
    let target = try target(of: call.method)
    let interface = target.interface
    #if AMBIT_MUTANTS
      if Mutant.invalidAsked.isActive, call.method == "io.ambit.Picker.Pick",
        interface.fault(in: call.parameters, against: target.parameters) != nil
      {
        let valid = IncomingCall(method: call.method, parameters: ["mode": "open"], sender: call.sender)
        return CheckedCall(interface: interface.name, member: target.member, call: valid)
      }
    #endif
    if let fault = interface.fault(in: call.parameters, against: target.parameters) { throw .invalidParameter(fault) }
    if target.isStreaming && !call.more { throw .expectedMore }
    // Without an answer to come, a connection could have any number of calls that wait.
    guard !call.oneway || Self.oneway.contains(call.method) else { throw .invalidParameter("oneway") }
    return CheckedCall(interface: interface.name, member: target.member, call: call)
  }

  private func target(of method: String) throws(ErrorReply) -> Target {
    if let target = known.methods.withLock({ $0[method] }) { return target }
    guard let (name, member) = split(method) else { throw .interfaceNotFound(method) }
    guard let interface = interfaces[name] else { throw .interfaceNotFound(name) }
    guard let found = interface.methods[member] else { throw .methodNotFound(method) }
    let target = Target(interface, member, found.parameters, isStreaming: streaming.contains(method))
    known.methods.withLock { $0[method] = target }
    return target
  }

  private func introspect(_ call: CheckedCall) throws(ErrorReply) -> JSONObject {
    if call.member == "GetInfo" {
      return [
        "vendor": .string(info.vendor), "product": .string(info.product), "version": .string(info.version),
        "url": .string(info.url), "interfaces": .array(names.map { .string($0) }),
      ]
    }
    guard case .string(let name)? = call.parameters["interface"], let interface = interfaces[name] else {
      throw .interfaceNotFound((try? call.parameters.string("interface")) ?? "")
    }
    return ["description": .string(interface.description)]
  }
}
