internal import AmbitKit
internal import ArgumentParser

struct Kept: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print how many documents the app keeps its access to, and may.",
    discussion: """
      A line for the documents that it keeps; where the policy has a list of those used last (persisted = "windows"), another one \
      for that, and one for each document in it, the last one first. What falls out of the list and is not kept is lost.
      """)

  func run() throws {
    try Console.explaining {
      let lists = try AccessLists.current()
      func amount(_ count: Int, _ maximum: Int?) -> String { "\(count) of \(maximum.map { "\($0)" } ?? "any number")" }
      try Console.print(
        "kept \(amount(lists.futureAccessList.count, lists.futureAccessList.maximumItemsAllowed)) (\(lists.profile))")
      guard let recent = lists.mostRecentlyUsedList else { return }
      try Console.print("recent \(amount(recent.entries.count, recent.maximumItemsAllowed))")
      for entry in recent.entries {
        try Console.print("\(entry.lastUsed) \(entry.isKept ? "kept" : "recent") \(Console.printable(entry.name))")
      }
    }
  }
}
