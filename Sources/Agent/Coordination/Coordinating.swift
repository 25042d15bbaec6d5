internal import AmbitKit
internal import Foundation

/// The presenters, the accesses and the coordinators of a session, by name.
final class Coordinating {
  fileprivate var windows: [String: Window] = [:]
  fileprivate var accesses: [String: Access] = [:]
  fileprivate var coordinators: [String: NSFileCoordinator] = [:]
}

/// File coordination, as an app's own code would do it.
extension Session {
  func coordinationAct(_ act: String, _ request: [String: Any]) throws -> [String: Any]? {
    switch act {
    case "present": return try present(request)
    case "edit":
      try window(request).edit(try text("text", request))
      return ["done": true]
    case "leave":
      NSFileCoordinator.removeFilePresenter(try window(request))
      return ["done": true]
    case "messages": return Self.describe(try window(request).messages, request)
    case "coordinate": return try coordinate(request)
    case "access": return Self.describe(try access(request), byPhase: true)
    case "finish":
      let access = try access(request)
      access.finish()
      guard access.wait(Self.patience, end: true) else { return Self.waiting }
      return Self.describe(access)
    case "cancelAccess":
      try access(request).coordinator.cancel()
      return ["done": true]
    default: return nil
    }
  }

  /// Seconds that one act waits for an access.
  private static let patience = 8.0
  private static var waiting: [String: Any] {
    ["done": false, "errno": "WAITING", "sentence": "it still waits"]
  }

  // MARK: Presenters

  private func window(_ request: [String: Any]) throws -> Window {
    let name = try text("presenter", request)
    guard let window = coordinating.windows[name] else { throw Usage(sentence: "there is no presenter “\(name)”") }
    return window
  }

  private func present(_ request: [String: Any]) throws -> [String: Any] {
    let manner = Window.Manner(
      delay: Double(request["delay"] as? Int ?? 0) / 1000, isSilent: request["silent"] as? Bool ?? false,
      failure: request["error"] as? String)
    let text = request["text"] as? String
    let window = Window(
      try url(request), primary: (request["primary"] as? String).map { URL(fileURLWithPath: $0) }, text: text, manner)
    coordinating.windows[request["as"] as? String ?? "presenter"] = window
    return try within(request) {
      NSFileCoordinator.addFilePresenter(window)
      if text != nil { NSFileCoordinator.setHasUnsavedChanges(true, for: window) }
      // A presenter of nothing that the app has is listed and never asked: Apple's method cannot say so.
      return SecurityScope.lastError.map { error in Refusal(error) }
    }
  }

  private struct Refusal: Error {
    let error: any Error
    init(_ error: any Error) { self.error = error }
  }

  /// Carries something out, in the accessor of another access if the request says so.
  private func within(_ request: [String: Any], _ body: @escaping @Sendable () -> Refusal?) throws -> [String: Any] {
    var refusal: Refusal?
    if let name = request["inside"] as? String {
      let outcome = Outcome()
      guard let outer = coordinating.accesses[name],
        outer.run({
          outcome.refusal = body()
          outcome.over.signal()
        })
      else { throw Usage(sentence: "no accessor of “\(name)” is running") }
      guard outcome.over.wait(timeout: .now() + Self.patience) == .success else { return Self.waiting }
      refusal = outcome.refusal
    } else {
      refusal = body()
    }
    return refusal.map { Self.describe($0.error) } ?? ["done": true]
  }

  private final class Outcome: @unchecked Sendable {
    var refusal: Refusal?
    let over = DispatchSemaphore(value: 0)
  }

  private static func describe(_ messages: [Window.Message], _ request: [String: Any]) -> [String: Any] {
    guard request["askers"] as? Bool == true else { return ["text": messages.map(\.words).joined(separator: "\n")] }
    let lines = messages.map { message in
      message.asker.map { "\(message.words): \($0.app) \($0.process) \($0.purpose)" } ?? message.words
    }
    return ["text": lines.joined(separator: "\n")]
  }

  // MARK: Accesses

  private func access(_ request: [String: Any]) throws -> Access {
    let name = try text("name", request)
    guard let access = coordinating.accesses[name] else { throw Usage(sentence: "there is no access “\(name)”") }
    return access
  }

  private func coordinate(_ request: [String: Any]) throws -> [String: Any] {
    let name = try text("name", request)
    if let former = coordinating.accesses[name], former.state.phase != .done {
      throw Usage(sentence: "the access “\(name)” is not over")
    }
    let access = Access(try plan(request), try coordinator(request))
    coordinating.accesses[name] = access
    if let outer = request["inside"] as? String {
      guard coordinating.accesses[outer]?.run({ access.carryOut() }) == true else {
        throw Usage(sentence: "no accessor of “\(outer)” is running")
      }
    } else {
      Thread.detachNewThread { access.carryOut() }
    }
    guard request["wait"] as? Bool != false else { return ["done": true] }
    guard access.wait(Self.patience, end: request["hold"] as? Bool != true) else { return Self.waiting }
    return Self.describe(access)
  }

  /// The one of that name, or a new one; a name that is new names it.
  private func coordinator(_ request: [String: Any]) throws -> NSFileCoordinator {
    let name = request["coordinator"] as? String
    let presenter = request["presenter"] == nil ? nil : try window(request)
    let coordinator =
      name.flatMap { coordinating.coordinators[$0] } ?? NSFileCoordinator(filePresenter: presenter)
    if let purpose = request["purpose"] as? String { coordinator.purposeIdentifier = purpose }
    if let name { coordinating.coordinators[name] = coordinator }
    return coordinator
  }

  private static let reading: [String: NSFileCoordinator.ReadingOptions] = [
    "withoutChanges": .withoutChanges, "resolvesSymbolicLink": .resolvesSymbolicLink,
    "immediatelyAvailableMetadataOnly": .immediatelyAvailableMetadataOnly, "forUploading": .forUploading,
  ]
  private static let writing: [String: NSFileCoordinator.WritingOptions] = [
    "forDeleting": .forDeleting, "forMoving": .forMoving, "forMerging": .forMerging, "forReplacing": .forReplacing,
    "contentIndependentMetadataOnly": .contentIndependentMetadataOnly,
  ]

  private func plan(_ request: [String: Any]) throws -> Access.Plan {
    func urls(_ key: String) -> [URL] { (request[key] as? [String] ?? []).map { URL(fileURLWithPath: $0) } }
    var plan = Access.Plan(reads: urls("read"), writes: urls("write"))
    guard !plan.reads.isEmpty || !plan.writes.isEmpty else { throw Usage(sentence: "nothing is read or written") }
    for option in request["options"] as? [String] ?? [] {
      if let option = Self.reading[option] {
        plan.reading.insert(option)
      } else if let option = Self.writing[option] {
        plan.writing.insert(option)
      } else {
        throw Usage(sentence: "there is no option “\(option)”")
      }
    }
    plan.isAsynchronous = request["async"] as? Bool ?? false
    plan.prepares = request["prepare"] as? Bool ?? false
    if request["hold"] as? Bool == true { plan.holds = Access.longest }
    if let lasts = request["lasts"] as? Int { plan.holds = min(Double(lasts) / 1000, Access.longest) }
    plan.text = request["text"] as? String
    plan.appends = request["append"] as? Bool ?? false
    plan.to = request["to"] as? String
    plan.removes = request["remove"] as? Bool ?? false
    return plan
  }

  /// - Parameter byPhase: the text of the answer is the phase, and not what the accessor saw.
  private static func describe(_ access: Access, byPhase: Bool = false) -> [String: Any] {
    let (phase, seen) = access.state
    if let failure = seen.failure { return describe(failure) }
    return [
      "state": phase.rawValue, "text": byPhase ? phase.rawValue : seen.text, "path": seen.paths.first ?? "",
      "items": seen.paths,
    ]
  }
}
