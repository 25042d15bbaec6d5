import Measure

#if canImport(Glibc)
  import Glibc
#endif

extension Bench {
  /// Launching /bin/true in a sandbox, beside bubblewrap with the same namespaces, and beside nothing. The three take
  /// turns, so that whatever else the machine does is shared out among them.
  func launch(rounds: Int = 200) -> [Row] {
    var samples: [String: [Double]] = [:]
    var notes: [String: String] = [:]
    if find("bwrap") == nil { notes["bwrap"] = "install bubblewrap to compare with it" }
    let contenders = launchContenders + [("bare", ["/bin/true"])]
    for round in 0..<rounds + 5 {
      for contender in contenders where notes[contender.name] == nil {
        do {
          let elapsed = try Child.timed(contender.arguments, environment: environment)
          // The first few start the broker and fill caches.
          if round >= 5 { samples[contender.name, default: []].append(elapsed) }
        } catch { notes[contender.name] = "\(error)" }
      }
    }
    let ambit = samples["ambit"]?.median
    return [
      Row(
        "launch", "launch /bin/true", unit: "ms", ambit: ambit, peer: "bubblewrap", other: samples["bwrap"]?.median,
        aim: .ratioAtMost(0.8), note: notes["ambit"] ?? notes["bwrap"]),
      Row("launch", "launch /bin/true", unit: "ms", ambit: ambit, peer: "no sandbox", other: samples["bare"]?.median),
    ]
  }

  /// /bin/true in a sandbox of Ambit's, with its filter and Landlock, and of bubblewrap's, if it is there, without.
  var launchContenders: [(name: String, arguments: [String])] {
    let bubblewrap = find("bwrap").map { ("bwrap", [$0] + bubblewrapArguments + ["/bin/true"]) }
    return [("ambit", [ambit, "run", "/bin/true"])] + (bubblewrap.map { [$0] } ?? [])
  }

  /// The namespaces and the root folder that Ambit gives an app.
  private var bubblewrapArguments: [String] {
    var arguments = ["--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/usr", "/usr"]
    for folder in ["/bin", "/sbin", "/lib", "/lib32", "/lib64"] {
      var target = [CChar](repeating: 0, count: 256)
      let length = unsafe readlink(folder, &target, target.count)
      if length > 0 {
        arguments += [
          "--symlink", String(decoding: target[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self), folder,
        ]
      } else if unsafe access(folder, F_OK) == 0 {
        arguments += ["--ro-bind", folder, folder]
      }
    }
    return arguments + ["--ro-bind", "/etc", "/etc", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
  }
}
