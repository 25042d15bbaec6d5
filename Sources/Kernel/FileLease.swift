internal import CLinux
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// A lease on an open file (`F_SETLEASE` in `fcntl(2)`): an open(2) that conflicts with it waits until the holder gives way.
///
/// The holder's own opens conflict as well. Renames, links and `stat(2)` never do.
package enum FileLease: Sendable {
  /// Opens for writing wait, and so does truncate(2). Needs a descriptor that only reads, and no writer of the file.
  case read
  /// All opens wait. Needs that no other open file of any process reads or writes this one.
  case write

  fileprivate var code: Int32 { self == .read ? AMBIT_LEASE_READ : AMBIT_LEASE_WRITE }

  /// Whether this process may lease files of other owners (`CAP_LEASE`, which counts outside of user namespaces alone).
  package static var coversOtherOwners: Bool { Namespaces.isHostRoot && ambit_leases_all() == 1 }

  /// Seconds after which the kernel lets a waiting open go on, whatever the holder does; `nil`: never, or it does not say
  /// (`/proc/sys/fs/lease-break-time`).
  package static var breakTime: Int? {
    guard let text = try? breakTimeFile?.bytes(at: 0, count: 32),
      let seconds = Int(String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)), seconds > 0
    else { return nil }
    return seconds
  }

  /// Read at each break, while a program waits: so it stays open.
  private static let breakTimeFile = try? Descriptor.open("/proc/sys/fs/lease-break-time", flags: .read)
}

extension Descriptor {
  /// Takes a lease, or another one in place of the present one. Breaks are told to the calling thread (``LeaseBreaks``).
  ///
  /// - Throws: `EAGAIN` where the file is open in a way that conflicts, `EACCES` without `CAP_LEASE` for a file of another owner,
  ///   `EINVAL` where it is no regular file or its file system has no leases.
  package func take(_ lease: FileLease) throws(KernelError) {
    // Before there is anything to tell: the signal that counts otherwise ends the process.
    try KernelError.checkNegative("fcntl", "F_SETSIG, descriptor \(rawValue)") { ambit_tell_breaks(rawValue) }
    try KernelError.checkNegative("fcntl", "F_SETLEASE, descriptor \(rawValue)") {
      ambit_set_lease(rawValue, lease.code)
    }
  }

  /// Gives the lease back, and lets an open go on that waits for it. Without a lease nothing happens.
  package func giveBackLease() { _ = ambit_set_lease(rawValue, AMBIT_LEASE_NONE) }

  /// The lease that this open file has. While the lease is being broken: the one that the holder has to come down to.
  ///
  /// `nil` has three meanings: it never had one, a writer waits, or the kernel's time was over and it has taken the lease away.
  package var lease: FileLease? {
    switch ambit_get_lease(rawValue) {
    case AMBIT_LEASE_READ: .read
    case AMBIT_LEASE_WRITE: .write
    default: nil
    }
  }
}

/// Breaks of leases as something to wait for (`signalfd(2)`). They are told to one thread, so no other one has to hold signals back.
package struct LeaseBreaks: Sendable {
  package enum Break: Equatable, Sendable {
    /// Of the lease that this process took by this descriptor's number. The number may mean another file by now.
    case of(Int32)
    /// The queue of signals was full (`RLIMIT_SIGPENDING`): the break of any lease.
    case unknown
  }

  /// Readable, for the thread that has made it, after a break.
  package let descriptor: Descriptor

  /// Holds the signals back in the calling thread, for good. Leases have to be taken, and breaks read, on the same thread.
  package init() throws(KernelError) {
    descriptor = Descriptor(owning: try KernelError.checkNegative("signalfd") { ambit_lease_signals() })
  }

  /// The next break that has arrived, if one has.
  package func next() throws(KernelError) -> Break? {
    var file: Int32 = -1
    try KernelError.checkNegative("read", "breaks of leases") {
      unsafe ambit_next_break(descriptor.rawValue, &file)
    }
    return file >= 0 ? .of(file) : file == -2 ? .unknown : nil
  }
}
