import Coordination
import Paths
import Wire

/// Drives an arbiter by lines of text; its words: `Scripts/README.md`.
struct Script {
  private var arbiter = Arbiter()
  private var now: Int64 = 0
  private var requests: [String: Int] = [:]
  private var presenters: [String: Int] = [:]
  private var clients: [String: Int] = [:]
  /// The presenters of questions, also of those that are over.
  private var asked: [Int: Int] = [:]

  struct Failure: Error, CustomStringConvertible { let description: String }

  /// The script with the effects of each line after it.
  static func play(_ text: String) throws -> String {
    var script = Script()
    var lines: [String] = []
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if line.hasPrefix("  ") { continue }
      lines.append(String(line))
      if line.isEmpty || line.hasPrefix("#") { continue }
      do { lines += try script.step(line.split(separator: " ").map(String.init)).map { "  " + $0 } } catch {
        throw Failure(description: "line \(number + 1): \(line): \(error)")
      }
    }
    return lines.joined(separator: "\n")
  }

  private mutating func step(_ words: [String]) throws -> [String] {
    var rest = Array(words.dropFirst())
    func next(_ expected: String) throws -> String {
      if rest.isEmpty { throw Failure(description: "expected \(expected)") }
      return rest.removeFirst()
    }
    switch words[0] {
    case "at":
      now = try Self.time(try next("a time"))
      return apply(.time)
    case "present":
      let name = try next("a presenter")
      let presenter = Presenter(
        client: client(try next("a client")), party: party(words[2], purpose: name),
        item: try Self.item(try next("a path")))
      presenters[name] = presenters.count + 1
      return apply(.addPresenter(presenters[name]!, presenter))
    case "leave": return apply(.removePresenter(try presenter(try next("a presenter"))))
    case "read", "write", "prepare", "request": return try request(words)
    case "answer":
      let id = try presenter(try next("a presenter"))
      guard let number = arbiter.questions.filter({ $0.value.presenter == id }).keys.min() else {
        throw Failure(description: "it was not asked")
      }
      return apply(.answer(number, error: rest.isEmpty ? nil : rest.joined(separator: " ")))
    case "done": return apply(.done(try request(named: try next("a request"))))
    case "keep":
      let id = try request(named: try next("a request"))
      return apply(.kept(id, PathKey(try next("a path"))))
    case "cancel":
      let id = try request(named: try next("a request"))
      return apply(.cancel(id, by: rest.first == "user" ? .user : .caller))
    case "die": return apply(.clientEnded(client(try next("a client"))))
    case "suspend": return apply(.suspend(client(try next("a client"))))
    case "resume": return apply(.resume(client(try next("a client"))))
    case "move":
      let (from, to) = (try next("a path"), try next("a path"))
      let mover = rest.first == "by" ? try request(named: rest[1]) : nil
      return apply(.moved(PathKey(from), to: PathKey(to), by: mover))
    case "change":
      let path = PathKey(try next("a path"))
      let changes: [String: Change] = [
        "content": .content, "attributes": .attributes, "created": .created, "deleted": .deleted,
      ]
      guard let change = changes[try next("a change")] else { throw Failure(description: "no such change") }
      return apply(.changed(path, change))
    case "state": return state()
    default: throw Failure(description: "no such word")
    }
  }

  /// `read R1 app /path option… [as PURPOSE] [within R0] [answering P1] [patience 5s] [proceed] [preparing]`; `request R1 app` takes several of
  /// `read /path option…` and `write /path option…`.
  private mutating func request(_ words: [String]) throws -> [String] {
    guard words.count >= 4 else { throw Failure(description: "expected: \(words[0]) NAME CLIENT /PATH …") }
    let name = words[1]
    var request = Request(client: client(words[2]), party: party(words[2], purpose: name), intents: [])
    request.isPreparation = words[0] == "prepare"
    var rest = Array(words.dropFirst(3))
    if words[0] == "prepare" {
      rest.insert("read", at: 0)
    } else if words[0] != "request" {
      rest.insert(words[0], at: 0)
    }
    while !rest.isEmpty {
      let word = rest.removeFirst()
      switch word {
      case "read", "write":
        let item = try Self.item(rest.removeFirst())
        let options = Array(
          rest.prefix {
            CoordinationInterface.readingOptions.contains($0) || CoordinationInterface.writingOptions.contains($0)
          })
        rest.removeFirst(options.count)
        if word == "read" {
          guard let options = ReadingOptions(names: options, CoordinationInterface.readingOptions) else {
            throw Failure(description: "no option for reading")
          }
          request.intents.append(Intent(item, .read(options)))
        } else {
          guard let options = WritingOptions(names: options, CoordinationInterface.writingOptions) else {
            throw Failure(description: "no option for writing")
          }
          request.intents.append(Intent(item, .write(options)))
        }
      case "as": request.party.purpose = rest.removeFirst()
      case "within": request.parents.append(.access(try self.request(named: rest.removeFirst())))
      case "answering":
        let id = try presenter(rest.removeFirst())
        guard let number = arbiter.questions.filter({ $0.value.presenter == id }).keys.min() else {
          throw Failure(description: "it was not asked")
        }
        request.parents.append(.question(number))
      case "patience": request.patience = try Self.time(rest.removeFirst())
      case "preparing": request.isPreparation = true
      case "proceed": request.silence = .proceed
      default: throw Failure(description: "\(word) is no word of a request")
      }
    }
    requests[name] = requests.count + 1
    return apply(.request(requests[name]!, request))
  }

  private func request(named name: String) throws -> Int {
    guard let id = requests[name] else { throw Failure(description: "no request \(name)") }
    return id
  }

  private func presenter(_ name: String) throws -> Int {
    guard let id = presenters[name] else { throw Failure(description: "no presenter \(name)") }
    return id
  }

  private mutating func client(_ name: String) -> Int {
    if let id = clients[name] { return id }
    clients[name] = clients.count + 1
    return clients.count
  }

  private mutating func party(_ app: String, purpose: String) -> Party {
    Party(app: app, process: Int32(100 + client(app)), purpose: purpose)
  }

  /// A part that ends in `.pkg` is a package.
  private static func item(_ path: String) throws -> Item {
    guard path.hasPrefix("/") else { throw Failure(description: "\(path) is no path") }
    var package = ""
    for part in path.split(separator: "/") {
      package += "/\(part)"
      if part.hasSuffix(".pkg") { return Item(path, package: package) }
    }
    return Item(path)
  }

  private static func time(_ text: String) throws -> Int64 {
    guard text.hasSuffix("s"), let seconds = Int64(text.dropLast()) else {
      throw Failure(description: "\(text) is no time, like 5s")
    }
    return seconds * 1_000_000_000
  }

  // MARK: Printing

  private mutating func apply(_ input: Input) -> [String] {
    let effects = arbiter.apply(input, at: now)
    for case .ask(let number, let presenter, _, _) in effects { asked[number] = presenter }
    return effects.map { print($0) }
  }

  private func name(_ id: Int) -> String { requests.first { $0.value == id }?.key ?? "?\(id)" }
  private func name(presenter id: Int) -> String { presenters.first { $0.value == id }?.key ?? "?\(id)" }

  private func print(_ effect: Effect) -> String {
    switch effect {
    case .ask(_, let presenter, let question, let id):
      return "ask \(name(presenter: presenter)) \(print(question)) for \(name(id))"
    case .withdraw(_, let presenter): return "withdraw the question of \(name(presenter: presenter))"
    case .silent(let presenter, let question, let id, let after):
      return "\(name(presenter: presenter)) was silent for \(print(after)): \(print(question)) for \(name(id))"
    case .grant(let id, let paths): return "grant \(name(id)) \(paths.map(\.text).joined(separator: " "))"
    case .refuse(let id, let refusal): return "refuse \(name(id)): \(print(refusal))"
    case .reacquire(let presenter, let id): return "\(name(presenter: presenter)) reacquires after \(name(id))"
    case .notify(let presenter, let notice): return "tell \(name(presenter: presenter)) \(print(notice))"
    case .reordered(let id, let other): return "\(name(id)) goes before \(name(other))"
    }
  }

  private func print(_ time: Int64) -> String { "\(time / 1_000_000_000)s" }

  private func print(_ question: Question) -> String {
    switch question {
    case .relinquishToReader: "relinquish to reader"
    case .relinquishToWriter: "relinquish to writer"
    case .saveChanges: "save"
    case .accommodateDeletion: "accommodate deletion"
    case .accommodateSubitemDeletion(let path): "accommodate deletion of \(path.text)"
    }
  }

  private func print(_ notice: Notice) -> String {
    func way(_ isCoordinated: Bool) -> String { isCoordinated ? "" : ", uncoordinated" }
    return switch notice {
    case .changed(let way1): "changed\(way(way1))"
    case .attributesChanged: "attributes changed"
    case .moved(let path): "moved to \(path.text)"
    case .deleted(let way1): "deleted\(way(way1))"
    case .subitemChanged(let path, let way1): "\(path.text) changed\(way(way1))"
    case .subitemAppeared(let path, let way1): "\(path.text) appeared\(way(way1))"
    case .subitemMoved(let path, let to): "\(path.text) moved to \(to.text)"
    case .subitemDeleted(let path, let way1): "\(path.text) deleted\(way(way1))"
    }
  }

  private func print(_ refusal: Refusal) -> String {
    switch refusal {
    case .cancelled(let canceller): return "cancelled by \(canceller)"
    case .presenterFailed(let presenter, let words): return "\(name(presenter: presenter)) failed: \(words)"
    case .presenterSilent(let presenter, _, let after):
      return "\(name(presenter: presenter)) was silent for \(print(after))"
    case .held(let ids, let time): return "held by \(ids.map { name($0) }.joined(separator: ", ")) for \(print(time))"
    case .cycle(let links):
      let words = links.map { link in
        switch link {
        case .request(let id): name(id)
        case .question(let number): "\(name(presenter: asked[number] ?? 0)) asked"
        }
      }
      return "cycle \(words.joined(separator: " → "))"
    }
  }

  /// One line for each request: its phase, and the requests and presenters that it waits for.
  private func state() -> [String] {
    arbiter.entries.sorted { $0.key < $1.key }.map { id, entry in
      let awaited =
        arbiter.blockers(of: id).map { name($0) }
        + entry.outstanding.sorted().compactMap { arbiter.questions[$0].map { name(presenter: $0.presenter) } }
      return "\(name(id)) \(entry.phase)" + (awaited.isEmpty ? "" : ", waits for \(awaited.joined(separator: " "))")
    }
  }
}
