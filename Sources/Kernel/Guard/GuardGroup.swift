internal import CLinux
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// A group of `fanotify(7)` that asks before the content of a file is used. While any process has it, the openers wait for answers.
package struct GuardGroup: Sendable {
  package let descriptor: Descriptor

  /// - Throws: `EPERM` without CAP_SYS_ADMIN on the host, `EINVAL` where the kernel is too old.
  package init() throws(KernelError) {
    descriptor = Descriptor(owning: try Self.check("fanotify_init") { ambit_guard_open_group() })
  }

  package init(_ descriptor: Descriptor) { self.descriptor = descriptor }

  /// Asks about the files directly in a folder, from the return on.
  package func watch(_ folder: Descriptor) throws(KernelError) {
    _ = try Self.check("fanotify_mark") { ambit_guard_watch(descriptor.rawValue, folder.rawValue) }
  }

  /// Does not ask about a file that has its content, until it is emptied. Before a lease is taken on it: an event of a file that is leased
  /// cannot be opened, and its opener would get an error.
  package func passOver(_ file: Descriptor) { _ = ambit_guard_pass_over(descriptor.rawValue, file.rawValue) }

  /// Asks about it again.
  package func askAgain(_ file: Descriptor) { _ = ambit_guard_ask_again(descriptor.rawValue, file.rawValue) }

  static func check(_ call: String, _ body: () -> Int32) throws(KernelError) -> Int32 {
    let result = body()
    guard result >= 0 else { throw KernelError(call, errno: .init(rawValue: -result)) }
    return result
  }
}

/// The broker's end of the connection to its guard.
package struct GuardChannel: Sendable {
  package let socket: Descriptor

  /// A guard's question: a program waits for the content of this file.
  package struct Question: Sendable {
    package let file: GuardedFile
    /// The file, open for reading. It counts as a reader of it: closed as soon as its place is known.
    package let descriptor: Descriptor?
  }

  package init(_ socket: Descriptor) { self.socket = socket }

  /// - Returns: the broker's end, and the guard's.
  package static func pair() throws(KernelError) -> (GuardChannel, guard: Descriptor) {
    var sockets: [Int32] = [-1, -1]
    _ = try GuardGroup.check("socketpair") { unsafe ambit_guard_socket_pair(&sockets) }
    return (GuardChannel(Descriptor(owning: sockets[0])), Descriptor(owning: sockets[1]))
  }

  /// Hands the group over, with the first message.
  package func send(_ group: GuardGroup) throws(KernelError) {
    var message = ambit_guard_message()
    _ = try GuardGroup.check("sendmsg") {
      unsafe ambit_guard_send(socket.rawValue, &message, group.descriptor.rawValue)
    }
  }

  /// - Returns: `nil`: none is here now.
  /// - Throws: where the guard has gone.
  package func receive() throws(KernelError) -> Question? {
    var message = ambit_guard_message()
    var passenger: Int32 = -1
    let got = unsafe ambit_guard_receive(socket.rawValue, &message, &passenger)
    let file = passenger >= 0 ? Descriptor(owning: passenger) : nil
    if got == 1 { return Question(file: .init(device: message.device, inode: message.inode), descriptor: file) }
    guard [-EAGAIN, -EINTR].contains(got) else { throw KernelError("recvmsg", errno: .connectionReset) }
    return nil
  }

  package func answer(_ file: GuardedFile, _ answer: GuardAnswer) {
    var message = ambit_guard_message(device: file.device, inode: file.inode, kind: answer.rawValue, unused: 0)
    // To one that has gone, nothing needs to be said.
    _ = unsafe ambit_guard_send(socket.rawValue, &message, -1)
  }
}

/// The guard as a process.
package enum GuardProcess {
  /// - Parameters:
  ///   - socket: its end of the connection; the group comes with the first message.
  ///   - follows: another guard of this group has died.
  package static func run(_ socket: Descriptor, broker: Int32, follows: Bool) throws {
    var entry = [PollEntry(socket, .read)]
    try Poll.wait(&entry, timeout: .seconds(10))
    var message = ambit_guard_message()
    var passenger: Int32 = -1
    guard unsafe ambit_guard_receive(socket.rawValue, &message, &passenger) == 1, passenger >= 0 else {
      throw KernelError("recvmsg", errno: .connectionReset)
    }
    let group = Descriptor(owning: passenger)
    var loop = GuardLoop(
      group: group.rawValue, socket: socket.rawValue,
      settings: .init(
        broker: broker, times: .init(patience: 60_000_000_000, linger: 60_000_000_000), followsAnother: follows))
    try withExtendedLifetime((group, socket)) { try loop.run() }
  }
}
