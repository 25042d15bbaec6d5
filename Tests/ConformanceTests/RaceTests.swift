import Foundation
import TestSupport
import Testing

/// The container swapped for a link while launches are under way, as fast as the names can be exchanged (B6, CVE-2021-30465).
@Suite(.serialized, .waiting, .timeLimit(.minutes(20)))
struct RaceTests {
  /// Of each user; AMBIT_RACE_ROUNDS says otherwise, as `make races` does: ten thousand in all.
  private static let rounds = ProcessInfo.processInfo.environment["AMBIT_RACE_ROUNDS"].flatMap(Int.init) ?? 1_000

  /// Launches in several processes, and says how many of them saw the wrong folder, the right one, and were refused; and what
  /// somebody who goes by the name saw meanwhile: the wrong folder, and not.
  private static let script = """
    race() {
      wins=0 inside=0 refused=0 wrong=0 right=0 i=0
      while [ $i -lt "$ROUNDS" ]; do
        "$AMBIT" run --container io.ambit.race "$BATTERY" look /home/user/marker </dev/null >/dev/null 2>&1
        case $? in 43) wins=$((wins+1));; 42) inside=$((inside+1));; 125) refused=$((refused+1));; *) echo "odd $?"; exit 1;; esac
        if [ -e "$CONTAINER/marker" ]; then wrong=$((wrong+1)); else right=$((right+1)); fi
        i=$((i+1))
      done
      echo "counts $wins $inside $refused $wrong $right"
    }
    for process in $PROCESSES; do race & done; wait; echo end
    """

  @Test("B6: of all launches there is none whose container is what a link leads to", arguments: TestUser.all)
  func swap(user: TestUser) throws {
    try Workspace.with(user) { world in
      let battery = try Products.path("battery")
      let container = world.container("io.ambit.race")
      let victim = "\(world.folder)/victim"
      try world.makeFolder(victim)
      try world.write("the user's own", to: "\(victim)/marker")
      let look = [battery, "look", "/home/user/marker"]
      let first = try world.run([try Products.path("ambit"), "run", "--container", "io.ambit.race"] + look)
      #expect(first.exit == .status(42), "\(first)")
      // The control of what “43” means: the same program, where the marker is.
      #expect(try world.run([battery, "look", "\(victim)/marker"]).exit == .status(43))
      let link = "\(container).link"
      try #require(unsafe symlink(victim, link) == 0)
      try user.own(link)

      let swapper = try world.start([battery, "swap", container, link])
      #expect(try swapper.readLine() == "ready")
      let processes = 3
      let each = (Self.rounds + processes - 1) / processes
      let outcome = try world.run(
        ["/bin/sh", "-c", Self.script],
        environment: [
          "AMBIT": try Products.path("ambit"), "BATTERY": battery, "CONTAINER": container, "ROUNDS": "\(each)",
          "PROCESSES": (1...processes).map { "\($0)" }.joined(separator: " "),
        ], patience: .seconds(500))
      swapper.closeInput()
      #expect(try swapper.waitForExit() == .status(0))
      let swaps = swapper.allOutput.split(separator: "\n").last.flatMap { Int($0.dropFirst("swapped ".count)) } ?? 0

      var counts = [0, 0, 0, 0, 0]
      for line in outcome.output.split(separator: "\n") where line.hasPrefix("counts ") {
        for (index, number) in line.split(separator: " ").dropFirst().enumerated() { counts[index] += Int(number) ?? 0 }
      }
      let (wins, inside, refused, wrong, right) = (counts[0], counts[1], counts[2], counts[3], counts[4])
      #expect(outcome.output.hasSuffix("end\n") && wins + inside + refused >= Self.rounds, "\(outcome)")
      #expect(wins == 0, "in \(inside + refused) launches")
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: victim) == ["marker"], "nothing was made there either")
      #expect(try world.read("\(victim)/marker") == "the user's own")
      // Both were there to be had, all the time: for launches, and for whoever goes by the name.
      #expect(inside > Self.rounds / 50 && refused > Self.rounds / 50, "\(counts)")
      #expect(wrong > Self.rounds / 50 && right > Self.rounds / 50, "\(counts)")
      #expect(swaps > Self.rounds * 10, "\(swaps)")
      print("B6, \(user): \(inside) launched, \(refused) refused, \(wins) won; \(swaps) exchanges")
    }
  }
}
