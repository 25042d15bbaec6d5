/// A file by its numbers in `stat(2)`. While it is open, no other one has the same.
package struct GuardedFile: Hashable, Sendable {
  /// `st_dev`.
  package let device: UInt64
  /// `st_ino`.
  package let inode: UInt64

  /// A file by both numbers.
  package init(device: UInt64, inode: UInt64) { (self.device, self.inode) = (device, inode) }
}

/// A program that waits at a file, as the kernel tells it (`fanotify(7)`).
package struct Opening: Equatable, Sendable {
  /// The number of the event's descriptor; the answer names it.
  package let id: Int32
  /// The process, not the thread.
  package let pid: Int32
  /// The file that it opens, or uses the content of.
  package let file: GuardedFile
  /// `st_mode` in `stat(2)`.
  package let mode: UInt32

  /// The kernel's event, and the file's status at that moment.
  package init(id: Int32, pid: Int32, file: GuardedFile, mode: UInt32) {
    (self.id, self.pid, self.file, self.mode) = (id, pid, file, mode)
  }

  /// A regular file without any mode: the content may be missing.
  package var isPlaceholder: Bool { mode & 0o170000 == 0o100000 && mode & 0o777 == 0 }
}

/// A broker's answer about a file.
package enum GuardAnswer: UInt32, Sendable {
  /// The content is there, and the file has its mode.
  case filled = 1
  /// It is a file of another owner, which has no mode for another reason.
  case foreign = 2
  /// The content cannot be had.
  case refused = 3
}

/// The guard's rules, without any system call: programs that may go on, programs that wait, and questions for the broker.
///
/// Every opening is answered once. Openings of one file share one question. A broker that says nothing for too long, or that is gone,
/// counts as one that refuses.
package struct Vigil: Sendable {
  /// An event.
  package enum Input: Equatable, Sendable {
    /// A program waits.
    case opened(Opening)
    /// The broker has answered.
    case answered(GuardedFile, GuardAnswer)
    /// The broker says that the content is there, and the file has no mode: it has been emptied again, or the broker errs.
    case emptyAgain(GuardedFile)
    /// Time has passed.
    case ticked
    /// The broker's end of the socket is closed.
    case brokerGone
  }

  /// A task, in the order of the list.
  package enum Effect: Equatable, Sendable {
    /// Lets a program go on.
    case allow(Int32)
    /// Lets it go on, and does not ask about this file again while it has its mode.
    case allowAndPassOver(Int32)
    /// Its call fails.
    case deny(Int32)
    /// Asks the broker for the content. The event's descriptor travels with the question.
    case ask(GuardedFile, with: Int32)
    /// The guard's process ends.
    case end
  }

  /// Nanoseconds.
  package struct Times: Equatable, Sendable {
    /// How long an opening waits for the broker.
    package let patience: Int64
    /// How long placeholders stay closed after the broker's end.
    package let linger: Int64

    /// Both are nanoseconds.
    package init(patience: Int64, linger: Int64) { (self.patience, self.linger) = (patience, linger) }
  }

  private struct Waiting {
    let id: Int32
    let deadline: Int64
  }

  /// The openings that wait for one file, in the order of their deadlines: at least one.
  private struct Question {
    var openings: [Waiting] = []
    var repeats = 0
  }

  private static let mostRepeats = 5

  private let broker: Int32
  private let times: Times
  private var questions: [GuardedFile: Question] = [:]
  private var end: Int64?

  /// - Parameter broker: the process that fills placeholders.
  package init(broker: Int32, times: Times) { (self.broker, self.times) = (broker, times) }

  /// How many openings wait.
  package var count: Int { questions.values.reduce(0) { $0 + $1.openings.count } }

  /// One of the openings that wait for a file.
  package func anyOpening(of file: GuardedFile) -> Int32? { questions[file]?.openings.first?.id }

  /// When ``Input/ticked`` has to come next.
  package var nextDeadline: Int64? {
    let first = questions.values.lazy.compactMap { $0.openings.first?.deadline }.min()
    guard let end else { return first }
    return min(end, first ?? end)
  }

  /// - Parameter now: nanoseconds of a clock that never goes back.
  package mutating func receive(_ input: Input, at now: Int64) -> [Effect] {
    switch input {
    case .opened(let opening): opened(opening, at: now)
    case .answered(let file, let answer): release(questions.removeValue(forKey: file), answer != .refused)
    case .emptyAgain(let file): askAgain(file)
    case .ticked: ticked(at: now)
    case .brokerGone: brokerGone(at: now)
    }
  }

  private mutating func opened(_ opening: Opening, at now: Int64) -> [Effect] {
    guard opening.isPlaceholder else { return [.allowAndPassOver(opening.id)] }
    guard end == nil else { return [.deny(opening.id)] }
    // It fills the file through an open of its own.
    guard opening.pid != broker else { return [.allow(opening.id)] }
    let isFirst = questions[opening.file] == nil
    questions[opening.file, default: Question()].openings.append(
      Waiting(id: opening.id, deadline: now + times.patience))
    return isFirst ? [.ask(opening.file, with: opening.id)] : []
  }

  private mutating func askAgain(_ file: GuardedFile) -> [Effect] {
    guard var question = questions[file], let first = question.openings.first else { return [] }
    guard question.repeats < Self.mostRepeats else { return release(questions.removeValue(forKey: file), false) }
    question.repeats += 1
    questions[file] = question
    return [.ask(file, with: first.id)]
  }

  private mutating func ticked(at now: Int64) -> [Effect] {
    var effects: [Effect] = []
    for (file, question) in questions {
      let late = question.openings.prefix { $0.deadline <= now }
      guard !late.isEmpty else { continue }
      effects += late.map { .deny($0.id) }
      questions[file]?.openings.removeFirst(late.count)
      if late.count == question.openings.count { questions[file] = nil }
    }
    if let end, end <= now { effects.append(.end) }
    return effects
  }

  private mutating func brokerGone(at now: Int64) -> [Effect] {
    guard end == nil else { return [] }
    end = now + times.linger
    defer { questions = [:] }
    return questions.values.flatMap { release($0, false) }
  }

  private func release(_ question: Question?, _ mayGoOn: Bool) -> [Effect] {
    (question?.openings ?? []).map { mayGoOn ? .allow($0.id) : .deny($0.id) }
  }
}
