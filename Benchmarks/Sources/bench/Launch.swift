import Measure

extension Bench {
  /// Launching /bin/true in a sandbox, beside bubblewrap and beside nothing. They take turns, so that whatever else the
  /// machine does is shared out among them.
  func launch(rounds: Int = 200) -> [Row] {
    var samples: [String: [Double]] = [:]
    var note: String?
    do {
      let contenders = try launchContenders() + [Contender(name: "none", arguments: ["/bin/true"])]
      for round in 0..<rounds + 5 {
        for contender in contenders {
          let elapsed = try Child.timed(contender, environment: environment)
          // The first few start the broker and fill caches.
          if round >= 5 { samples[contender.name, default: []].append(elapsed) }
        }
      }
    } catch { note = "\(error)" }
    let peers: [(name: String, words: String, aim: Row.Aim?)] = [
      ("confined", "bubblewrap, as confined", .ratioAtMost(0.8)), ("bare", "bubblewrap, bare", nil),
      ("none", "no sandbox", nil),
    ]
    return peers.map { peer in
      Row(
        "launch", "launch /bin/true", unit: "ms", ambit: samples["ambit"]?.median, peer: peer.words,
        other: samples[peer.name]?.median, aim: peer.aim, note: note)
    }
  }
}
