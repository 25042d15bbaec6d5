import Testing

@testable import AmbitCommands

@Suite struct `The share of a content that is here` {
  private static let shares: [(Int, Int, Int)] = [
    (0, 10, 0), (1, 3, 33), (10, 10, 100), (11, 10, 100), (-1, 10, 0), (5, 0, 0), (5, -1, 0), (Int.min, Int.max, 0),
    (Int.max, Int.max, 100), (Int.max / 2, Int.max, 49), (Int.max, 1, 100),
  ]

  @Test(arguments: shares)
  func `is a percentage, whatever the provider says`(bytes: Int, total: Int, percent: Int) {
    #expect(ProviderGetCommand.percent(bytes, of: total) == percent)
  }
}
