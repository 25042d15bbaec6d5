import Foundation
import Measure

#if canImport(Glibc)
  import Glibc
#endif

extension Bench {
  /// File providers: a document that is here, one that comes, and many of which each is only a name.
  func provider() -> [Row] {
    // Providers are shown in the user's home.
    var own = self
    own.environment["HOME"] = try? folder("user")
    own.environment["AMBIT_HOME"] = "\(scratch)/home-provider"
    defer { _ = try? Child([ambit, "broker", "stop"], environment: own.environment).wait() }
    return own.provider(items: 100_000, bytes: 1 << 30, turns: 5_000)
  }

  private func provider(items: Int, bytes: Int, turns: Int) -> [Row] {
    var rows: [Row] = []
    do {
      let folder = try enable("org.example.large", "\(bytes)-bytes")
      rows.append(try localRead("\(folder)/letter.txt", turns))
      rows.append(try materialise("\(folder)/large.bin", bytes))
    } catch {
      rows.append(Row("provider", "a document that comes", unit: "MiB/s", ambit: nil, note: "\(error)"))
    }
    do {
      let began = nanoseconds()
      _ = try enable("org.example.many", "\(items)-items")
      let first = Double(nanoseconds() - began) / 1e6
      let refresh = [ambit, "provider", "refresh", "org.example.many"]
      let again = try (0..<3).map { _ in try Child.timed(refresh, environment: environment) }
      rows.append(
        Row(
          "provider", "\(items) items enumerated and shown, with the launch", unit: "ms", ambit: first,
          peer: "empty files alone", other: try emptyFiles(items), aim: .valueAtMost(2_000)))
      rows.append(
        Row("provider", "enumerated again, unchanged", unit: "ms", ambit: again.median, aim: .valueAtMost(2_000)))
      _ = try Child.timed([ambit, "provider", "disable", "org.example.many"], environment: environment)
    } catch { rows.append(Row("provider", "\(items) items enumerated", unit: "ms", ambit: nil, note: "\(error)")) }
    return rows
  }

  /// The program's own name names its behaviour.
  ///
  /// - Returns: the folder that shows the provider's documents.
  private func enable(_ identifier: String, _ behaviour: String) throws -> String {
    guard let program = ProcessInfo.processInfo.environment["AMBIT_BENCH_PROVIDER"] else {
      throw Unavailable("AMBIT_BENCH_PROVIDER is not set")
    }
    let bundle = try folder("\(identifier).app")
    let plugin = try folder("\(identifier).app/PlugIns/Provider.appex")
    func plist(_ keys: String) -> Data {
      Data("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\"><dict>\(keys)</dict></plist>\n".utf8)
    }
    func key(_ name: String, _ value: String) -> String { "<key>\(name)</key><string>\(value)</string>" }
    try plist(
      key("CFBundleIdentifier", identifier) + key("CFBundleExecutable", "main") + key("CFBundleName", identifier)
        + key("CFBundleVersion", "1")
    ).write(to: URL(filePath: "\(bundle)/Info.plist"))
    try Data("#!/bin/sh\n".utf8).write(to: URL(filePath: "\(bundle)/main"))
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(bundle)/main")
    try plist(
      key("CFBundleExecutable", "provide-\(behaviour)")
        + "<key>NSExtension</key><dict>\(key("NSExtensionPointIdentifier", "com.apple.fileprovider-nonui"))</dict>"
    ).write(to: URL(filePath: "\(plugin)/Info.plist"))
    try FileManager.default.copyItem(atPath: program, toPath: "\(plugin)/provide-\(behaviour)")
    let list = try Child.lines(
      [ambit, "provider", "enable", "--format", "json", bundle], environment: environment,
      errors: "\(scratch)/errors-enable")
    let reply = try JSONSerialization.jsonObject(with: Data(list.joined().utf8)) as? [String: Any]
    guard let place = (reply?["locations"] as? [[String: Any]])?.first?["folder"] as? String else {
      throw Unavailable("the provider is not in \(list)")
    }
    return place
  }

  private func localRead(_ document: String, _ turns: Int) throws -> Row {
    _ = try Child.timed([ambit, "provider", "get", document], environment: environment)
    let plain = try folder("provider") + "/plain.txt"
    try Data("a document\n".utf8).write(to: URL(filePath: plain))
    let words = ["coordinate", "\(turns)"]
    let other = try insideSandbox(words, picks: [plain]).compactMap(Double.init).median
    let own = try insideSandbox(words, picks: [document]).compactMap(Double.init).median
    return Row(
      "provider", "a coordinated read of a local item, over a plain one", unit: "µs",
      ambit: own.flatMap { own in other.map { own - $0 } }, peer: "a plain one", other: other, aim: .valueAtMost(100))
  }

  private func materialise(_ document: String, _ bytes: Int) throws -> Row {
    // A virtual machine gives memory that was not used for a while back to its host: the first of these is slower.
    let times = try (0..<5).map { _ in
      let time = try Child.timed([ambit, "provider", "get", document], environment: environment)
      _ = try Child.timed([ambit, "provider", "evict", document], environment: environment)
      return time
    }
    let rate = times.median.map { Double(bytes) / 1_048_576 / ($0 / 1000) }
    return Row(
      "provider", "a document of \(bytes >> 20) MiB comes", unit: "MiB/s", ambit: rate, peer: "into a pipe",
      other: try (0..<5).map { _ in try pipeRate(bytes) }.median, aim: .ratioAtLeast(0.8))
  }

  /// The floor: so many files without content are made in a folder, in ms.
  private func emptyFiles(_ count: Int) throws -> Double {
    let place = try folder("empty")
    let began = nanoseconds()
    for number in 0..<count {
      let file = unsafe open("\(place)/\(number)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard file >= 0 else { throw Unavailable("\(place): errno \(errno)") }
      close(file)
    }
    return Double(nanoseconds() - began) / 1e6
  }

  /// The same bytes in the same pieces through a pipe to another program: MiB/s.
  private func pipeRate(_ bytes: Int) throws -> Double {
    let reader = try Child(["/bin/sh", "-c", "cat > /dev/null"], environment: environment, talking: true)
    let piece = Data((0..<(1 << 20)).map { UInt8(ascii: "a") + UInt8($0 % 26) })
    let began = nanoseconds()
    for _ in 0..<(bytes >> 20) { try reader.input?.write(contentsOf: piece) }
    try reader.input?.close()
    reader.wait()
    return Double(bytes) / 1_048_576 / (Double(nanoseconds() - began) / 1e9)
  }
}
