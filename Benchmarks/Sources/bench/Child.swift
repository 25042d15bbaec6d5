import Foundation
import Measure

#if canImport(Glibc)
  import Glibc
#endif

/// A program run by posix_spawn(3): what is measured is the program, and as little of the driver as can be.
struct Child {
  let process: pid_t
  /// The parent's ends of pipes to its standard input and output, when asked for.
  let input: FileHandle?
  let output: FileHandle?

  /// - Parameter talking: with pipes for input and output; otherwise both are /dev/null. Errors go to `errors`, a
  ///   file's path, or nowhere. What it is to find open besides, by number, is opened for reading.
  init(
    _ arguments: [String], environment: [String: String] = ProcessInfo.processInfo.environment, talking: Bool = false,
    errors: String? = nil, opens: [Int32: String] = [:]
  ) throws {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    let pipes = talking ? (Pipe(), Pipe()) : nil
    if let pipes {
      // A program that is started later must not have a hold on them: this one's input would not end with ours.
      for end in [pipes.0.fileHandleForWriting, pipes.1.fileHandleForReading] {
        _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
      }
      unsafe posix_spawn_file_actions_adddup2(&actions, pipes.0.fileHandleForReading.fileDescriptor, 0)
      unsafe posix_spawn_file_actions_adddup2(&actions, pipes.1.fileHandleForWriting.fileDescriptor, 1)
      for pipe in [pipes.0, pipes.1] {
        for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
          // Not before the dup2 above has made the copies that the program keeps.
          unsafe posix_spawn_file_actions_addclose(&actions, end.fileDescriptor)
        }
      }
    } else {
      unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
      unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    }
    unsafe posix_spawn_file_actions_addopen(&actions, 2, errors ?? "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    for (number, path) in opens { unsafe posix_spawn_file_actions_addopen(&actions, number, path, O_RDONLY, 0) }

    var argv: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) } + [nil]
    var envp: [UnsafeMutablePointer<CChar>?] = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
    defer { unsafe (argv + envp).forEach { unsafe free($0) } }
    var process: pid_t = 0
    let code = unsafe posix_spawn(&process, arguments[0], &actions, nil, &argv, &envp)
    guard code == 0 else { throw Unavailable("cannot run \(arguments[0]): \(unsafe String(cString: strerror(code)))") }
    self.process = process
    try pipes?.0.fileHandleForReading.close()
    try pipes?.1.fileHandleForWriting.close()
    input = pipes?.0.fileHandleForWriting
    output = pipes?.1.fileHandleForReading
  }

  /// Waits for its end; its exit status, or 128 + the signal that ended it.
  @discardableResult
  func wait() -> Int32 {
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) == -1 && errno == EINTR {}
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
  }

  func stop() {
    kill(process, SIGTERM)
    wait()
  }

  /// Runs to the end; how many milliseconds that took.
  static func timed(_ arguments: [String], environment: [String: String]) throws -> Double {
    try timed(Contender(name: arguments[0], arguments: arguments), environment: environment)
  }

  static func timed(_ contender: Contender, environment: [String: String]) throws -> Double {
    let start = nanoseconds()
    let status = try Child(contender.arguments, environment: environment, opens: contender.opens).wait()
    let elapsed = Double(nanoseconds() - start) / 1_000_000
    if status != 0 {
      throw Unavailable("\(contender.arguments.joined(separator: " ")) ended with status \(status)")
    }
    return elapsed
  }

  /// Runs to the end and answers what it wrote, line by line. What it says on standard error becomes the reason when
  /// it fails.
  static func lines(_ arguments: [String], environment: [String: String], errors: String) throws -> [String] {
    try? FileManager.default.removeItem(atPath: errors)
    let child = try Child(arguments, environment: environment, talking: true, errors: errors)
    try child.input?.close()
    let data = try child.output?.readToEnd() ?? Data()
    let status = child.wait()
    if status != 0 { throw Unavailable(failure(of: arguments[0], status: status, errors: errors)) }
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  static func failure(of program: String, status: Int32, errors: String) -> String {
    let said = (try? String(contentsOfFile: errors, encoding: .utf8))?.split(separator: "\n").last.map(String.init)
    return "\((program as NSString).lastPathComponent) ended with status \(status)" + (said.map { ": \($0)" } ?? "")
  }
}
