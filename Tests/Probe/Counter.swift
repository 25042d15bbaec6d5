internal import Agent
internal import AmbitKit
internal import Foundation

/// Processes that count up one number in a shared document, each under a coordinator of its own, and of which some are killed.
///
/// `{"do": "count", "of": "a", "processes": 4, "until": n, "kills": k, "coordinated": true}`: the document is started. Each process adds
/// one to the number, then a byte to a file of its own in the container: that is an acknowledgement. The answer says how many there
/// were. A process that was killed is started anew, until all together have acknowledged n.
enum Counter {
  private static let folder = "acknowledged"

  static func run(_ url: URL, _ request: [String: Any]) throws -> [String: Any] {
    let processes = request["processes"] as? Int ?? 4
    let target = request["until"] as? Int ?? 100
    var kills = request["kills"] as? Int ?? 0
    let isCoordinated = request["coordinated"] as? Bool ?? true
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let before = acknowledged
    var children: [pid_t] = []
    var generator = SystemRandomNumberGenerator()
    while acknowledged - before < target {
      while children.count < processes { children.append(try spawn(url.path, isCoordinated)) }
      usleep(UInt32.random(in: 1_000...20_000, using: &generator))
      if kills > 0, let victim = children.randomElement(using: &generator) {
        kill(victim, SIGKILL)
        kills -= 1
      }
      var status: Int32 = 0
      children.removeAll { unsafe waitpid($0, &status, WNOHANG) == $0 }
    }
    for child in children {
      kill(child, SIGKILL)
      var status: Int32 = 0
      _ = unsafe waitpid(child, &status, 0)
    }
    return ["acknowledged": acknowledged - before]
  }

  private static var acknowledged: Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.reduce(0) { sum, name in
      sum + (((try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)"))?[.size] as? Int) ?? 0)
    }
  }

  private static func spawn(_ path: String, _ isCoordinated: Bool) throws -> pid_t {
    var pid: pid_t = 0
    let words = [CommandLine.arguments[0], "count", path, isCoordinated ? "coordinated" : "alone"]
    var argv: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe argv.forEach { unsafe free($0) } }
    let code = unsafe posix_spawn(&pid, words[0], nil, nil, &argv, environ)
    guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
    return pid
  }

  /// One process: counts until it is killed.
  static func count(_ path: String, coordinated: Bool) -> Int32 {
    let mark = unsafe open("\(folder)/\(getpid())", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    let coordinator = NSFileCoordinator()
    let url = URL(fileURLWithPath: path)
    while true {
      var isDone = false
      func add(_ place: URL) {
        let file = unsafe open(place.path, O_RDWR | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 20)
        guard unsafe pread(file, &bytes, 20, 0) == 20, let number = Int(String(decoding: bytes, as: UTF8.self)) else {
          return
        }
        // One call for all twenty digits: a killed process has written all or none.
        let text = Array(String(format: "%020d", number + 1).utf8)
        isDone = unsafe pwrite(file, text, 20, 0) == 20
      }
      if coordinated {
        var error: NSError?
        unsafe coordinator.coordinate(writingItemAt: url, error: &error, byAccessor: add)
        if let error {
          FileHandle.standardError.write(Data("\(error.localizedDescription)\n".utf8))
          return 1
        }
      } else {
        add(url)
      }
      if isDone { _ = unsafe write(mark, "x", 1) }
    }
  }
}
