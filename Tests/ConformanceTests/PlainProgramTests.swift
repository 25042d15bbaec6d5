import Audit
import Foundation
import TestSupport
import Testing

/// `cat` sees what was typed: programs that nobody wrote for Ambit open documents that an app presents.
@Suite(.waiting) struct PlainProgramTests {
  enum Presenter: String, CaseIterable, Sendable {
    /// It has nothing that is not saved.
    case clean
    /// It saves when it is asked.
    case dirty
    /// It has changes, and never answers.
    case silent
    /// The same, and ends while it is asked.
    case dead

    /// Its changes come to the disk.
    var saves: Bool { self == .dirty }
    /// Readers wait for it.
    var keepsReaders: Bool { self != .clean }
  }

  @Test(arguments: TestUser.inTurn(Presenter.allCases))
  func `COO-27, COO-28: plain programs get the right bytes, or wait no longer than the patience, and lose none`(
    user: TestUser, presenter: Presenter
  ) throws {
    try Workspace.with(user) { world in
      let desks = try PlainProgram.all.enumerated().map { try Desk($0.element, $0.offset, in: world) }
      let policy = "\(world.home)/policy.toml"
      let patience = presenter == .silent ? "1s" : "forever"
      try world.write("inherits = \"default\"\n[coordination]\npatience = \"\(patience)\"\n", to: policy)
      let app = try world.probe("Editor", picks: desks.map(\.document), options: ["--policy", policy])
      for desk in desks { try present(desk, presenter, by: app) }
      try awaitLeases(desks, presenter, world)

      let running = try desks.map { ($0, try $0.begin()) }
      if presenter == .dead {
        // All that wait are known to the broker.
        let waiting = desks.count { $0.program.use != .looks }
        try Deadline.wait(for: "\(waiting) programs to wait") { try world.waitingPrograms() == waiting }
        for (desk, process) in running where [.reads, .measures, .appends, .edits].contains(desk.program.use) {
          #expect(!process.hasEnded, "\(desk.name)")
        }
        app.process.kill()
      }
      for (desk, process) in running { try check(desk, process, presenter) }
      try checkPresenters(desks, presenter, app)
      try checkLog(desks, presenter, world)
      if presenter != .dead { #expect(try app.finish() == .status(0)) }
    }
  }

  private func present(_ desk: Desk, _ presenter: Presenter, by app: AppRun) throws {
    try app.pick(as: desk.name)
    try #require(try app.start(desk.name))
    var fields: [String: JSON] = ["of": .string(desk.name), "as": .string(desk.name)]
    if presenter != .clean { fields["text"] = .string(desk.new) }
    if [.silent, .dead].contains(presenter) { fields["silent"] = true }
    try #require(try app.tell("present", fields).isDone)
  }

  /// A program in the making may have a document open for a moment; then its lease comes a moment later.
  private func awaitLeases(_ desks: [Desk], _ presenter: Presenter, _ world: Workspace) throws {
    let wanted = presenter == .clean ? "read" : "write"
    var leases: [String?] = []
    try Deadline.wait(for: "leases; there are \(leases)") {
      leases = try world.presenters().map { $0["lease"]?.string }
      return leases == Array(repeating: wanted, count: desks.count)
    }
  }

  private func check(_ desk: Desk, _ process: ChildProcess, _ presenter: Presenter) throws {
    let outcome = try process.outcome(patience: .seconds(60))
    let text = presenter.saves ? desk.new : desk.old
    switch desk.program.use {
    case .reads, .measures:
      let isMeasured = desk.program.use == .measures && presenter.saves
      let last = isMeasured ? try desk.begin().outcome() : outcome
      #expect(last.exit == .status(0), "\(desk.name): \(last.errors)")
      #expect(last.output == text, "\(desk.name)")
    case .edits where try presenter.saves && desk.content() == text:
      // It asked first, and got no answer. From now on it knows the file's time.
      _ = try desk.begin().outcome()
      #expect(try desk.content() == text + "more\n", "\(desk.name)")
    case .appends, .edits:
      #expect(outcome.exit == .status(0), "\(desk.name): \(outcome)")
      #expect(try desk.content() == text + "more\n", "\(desk.name)")
    case .readsWithoutWaiting:
      if presenter.keepsReaders {
        #expect(outcome.exit != .status(0) && outcome.output.isEmpty, "\(desk.name)")
        #expect(outcome.errors.contains("Resource temporarily unavailable"), "\(desk.name): \(outcome.errors)")
      } else {
        #expect(outcome.exit == .status(0) && outcome.output == text, "\(desk.name): \(outcome.errors)")
      }
      // A later attempt has it: the presenter was asked by the first.
      try Deadline.wait(for: "\(desk.name) to read it") {
        let again = try desk.begin().outcome()
        return again.exit == .status(0) && again.output == text
      }
    case .looks:
      #expect(outcome.exit == .status(0) && outcome.output.isEmpty, "\(desk.name): \(outcome)")
    }
  }

  private func checkPresenters(_ desks: [Desk], _ presenter: Presenter, _ app: AppRun) throws {
    guard presenter != .dead else { return }
    for desk in desks {
      let messages = try app.tell("messages", ["presenter": .string(desk.name)]).content ?? ""
      switch desk.program.use {
      case .looks: #expect(messages.isEmpty, "\(desk.name): \(messages)")
      // An editor may put another file in its place, without opening this one for writing.
      case .edits where presenter == .clean: break
      case .appends, .edits: #expect(messages.hasPrefix("relinquish to "), "\(desk.name): \(messages)")
      case .reads, .measures, .readsWithoutWaiting:
        // Without changes that are not saved, readers go on at once.
        #expect(messages.hasPrefix("relinquish to reader") == presenter.keepsReaders, "\(desk.name): \(messages)")
      }
    }
  }

  /// Only the silence of a presenter has ended a wait, after the policy's patience.
  private func checkLog(_ desks: [Desk], _ presenter: Presenter, _ world: Workspace) throws {
    let silent = Set(try world.audit(.presenterSilent).compactMap(\.document?.path))
    let waiting = desks.filter { $0.program.use != .looks }.map(\.document)
    #expect(silent == (presenter == .silent ? Set(waiting) : []))
    #expect(try world.audit(.coordinated).allSatisfy { $0.result == .allowed })
  }
}

extension Workspace {
  /// Coordination now, as `ambit coordination` has it.
  func coordination() throws -> JSON {
    let answer = try ambit("coordination", "--format", "json")
    return try #require(JSON(answer.output), "\(answer)")
  }

  func presenters() throws -> [JSON] { try coordination()["presenters"]?.array ?? [] }

  /// Programs whose turn has not come yet.
  func waitingPrograms() throws -> Int {
    (try coordination()["accesses"]?.array ?? []).count { $0["phase"]?.string != "granted" }
  }
}
