internal import CLinux

#if canImport(Glibc)
  internal import Glibc
#endif

/// The guard's process: waits for programs and for the broker, and carries out the effects of ``Vigil``.
///
/// It never opens a file by itself: that would wait for its own answer.
package struct GuardLoop {
  /// A guard's settings, told at its start.
  package struct Settings: Equatable, Sendable {
    /// The process that fills placeholders.
    package let broker: Int32
    /// How long it waits for the broker.
    package let times: Vigil.Times
    /// Files with a mode cost one question each, and not one for each open and each read.
    package let passesOver: Bool
    /// Openings that another guard has read from this group before it was killed get an error.
    package let followsAnother: Bool

    /// A guard that is the first of its group, unless told otherwise.
    package init(broker: Int32, times: Vigil.Times, passesOver: Bool = true, followsAnother: Bool = false) {
      (self.broker, self.times) = (broker, times)
      (self.passesOver, self.followsAnother) = (passesOver, followsAnother)
    }
  }

  /// The failure of the group or the socket that ends the guard: an `errno(3)`.
  package struct Failure: Error, Equatable, Sendable {
    /// The error's number.
    package let errno: Int32
  }

  private let group: Int32
  private var socket: Int32
  private let settings: Settings
  private var vigil: Vigil
  /// Questions that did not fit into the socket, in their order.
  private var unsent: [(file: GuardedFile, id: Int32)] = []
  private var isOver = false

  /// - Parameters:
  ///   - group: of ``ambit_guard_open_group``; the broker keeps a descriptor of it too.
  ///   - socket: this end of ``ambit_guard_socket_pair``.
  package init(group: Int32, socket: Int32, settings: Settings) {
    (self.group, self.socket, self.settings) = (group, socket, settings)
    vigil = Vigil(broker: settings.broker, times: settings.times)
  }

  /// Returns when the broker has been gone for long enough.
  package mutating func run() throws(Failure) {
    if settings.followsAnother { denyLeftovers() }
    while !isOver {
      let happened = ambit_guard_wait(group, socket, unsent.isEmpty ? 0 : 1, timeout)
      guard happened >= 0 else { throw Failure(errno: -happened) }
      if happened & 4 != 0 { send() }
      if happened & 2 != 0 { try receive() }
      if happened & 1 != 0 { try readEvents() }
      if let deadline = vigil.nextDeadline, deadline <= ambit_guard_clock() { take(.ticked) }
    }
  }

  /// Whole milliseconds, rounded up; -1: no end.
  private var timeout: Int32 {
    guard let deadline = vigil.nextDeadline else { return -1 }
    return Int32(clamping: max(0, (deadline - ambit_guard_clock() + 999_999) / 1_000_000))
  }

  private mutating func readEvents() throws(Failure) {
    var events = [ambit_guard_event](repeating: ambit_guard_event(), count: 64)
    let count = unsafe ambit_guard_read_events(group, &events, events.count)
    guard count >= 0 else {
      // Of all others: the kernel could not open the file, and has denied this event. The next ones can still be read.
      if [EBADF, EINVAL, EFAULT, EPROTO].contains(-count) { throw Failure(errno: -count) }
      return
    }
    for event in events.prefix(Int(count)) { take(event) }
  }

  private mutating func take(_ event: ambit_guard_event) {
    guard let status = status(of: event.file) else { return perform(.deny(event.file)) }
    let file = GuardedFile(device: status.device, inode: status.inode)
    take(.opened(Opening(id: event.file, pid: event.pid, file: file, mode: status.mode)), pid: event.pid)
  }

  private mutating func take(_ input: Vigil.Input, pid: Int32 = 0) {
    for effect in vigil.receive(input, at: ambit_guard_clock()) { perform(effect, pid: pid) }
  }

  private mutating func perform(_ effect: Vigil.Effect, pid: Int32 = 0) {
    switch effect {
    case .allow(let id): close(id, after: ambit_guard_allow(group, id))
    case .allowAndPassOver(let id): allowAndPassOver(id, pid: pid)
    case .deny(let id): close(id, after: ambit_guard_deny(group, id, EIO))
    case .ask(let file, let id):
      unsent.append((file, id))
      send()
    case .end: isOver = true
    }
  }

  /// An answer to a program that has been killed meanwhile goes nowhere (`ENOENT`).
  private mutating func close(_ id: Int32, after answered: Int32) {
    _ = answered
    unsent.removeAll { $0.id == id }
    _ = Glibc.close(id)
  }

  private mutating func allowAndPassOver(_ id: Int32, pid: Int32) {
    guard settings.passesOver, let before = status(of: id), before.mode & S_IFMT == S_IFREG,
      ambit_guard_pass_over(group, id) >= 0
    else { return perform(.allow(id)) }
    // The broker takes the mode away first and asks again then: one of both sees the other.
    guard let after = status(of: id), after.mode & 0o777 == 0 else { return perform(.allow(id)) }
    _ = ambit_guard_ask_again(group, id)
    take(ambit_guard_event(file: id, pid: pid))
  }

  private mutating func receive() throws(Failure) {
    // Openings that stand in the queue already are not kept waiting by a long row of answers.
    for _ in 0..<64 {
      var message = ambit_guard_message()
      var passenger: Int32 = -1
      let got = unsafe ambit_guard_receive(socket, &message, &passenger)
      if passenger >= 0 { _ = Glibc.close(passenger) }
      switch got {
      case 1: take(message)
      case -EAGAIN, -EINTR: return
      default:
        // Closed, or of no more use.
        socket = -1
        unsent = []
        return take(.brokerGone)
      }
    }
  }

  private mutating func take(_ message: ambit_guard_message) {
    let file = GuardedFile(device: message.device, inode: message.inode)
    guard let answer = GuardAnswer(rawValue: message.kind), let id = vigil.anyOpening(of: file) else { return }
    // The kernel's word counts, not the broker's.
    let isStillEmpty = answer == .filled && status(of: id).map { $0.mode & 0o777 == 0 } ?? true
    take(isStillEmpty ? .emptyAgain(file) : .answered(file, answer))
  }

  private mutating func send() {
    while let question = unsent.first, socket >= 0 {
      var message = ambit_guard_message(device: question.file.device, inode: question.file.inode, kind: 0, unused: 0)
      let result = unsafe ambit_guard_send(socket, &message, question.id)
      // Where the broker has gone, the socket says so in a moment.
      guard result == 0 else { return }
      unsent.removeFirst()
    }
  }

  /// The kernel knows an event by a number alone, and that of any guard counts.
  private func denyLeftovers() {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    for number in 0..<Int32(clamping: limit.rlim_cur) { _ = ambit_guard_deny(group, number, EIO) }
  }

  private func status(of file: Int32) -> ambit_guard_file? {
    var status = ambit_guard_file()
    return unsafe ambit_guard_status(file, &status) == 0 ? status : nil
  }
}
