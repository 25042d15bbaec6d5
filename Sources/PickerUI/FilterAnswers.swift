/// The rows of filters that were typed before, so that no letter that is taken back costs a search.
struct FilterAnswers: Sendable {
  struct Answer: Sendable {
    /// Indexes, in the order of the folder.
    let candidates: [Int]
    /// The same, the best first.
    let matches: [Int]

    init(_ candidates: [Int], _ matches: [Int]) { (self.candidates, self.matches) = (candidates, matches) }
  }

  /// Indexes that are kept, 8 bytes each.
  private static let most = 1_000_000

  private var kept: [(text: String, answer: Answer)] = []
  private var size = 0

  subscript(text: String) -> Answer? {
    get { kept.last { $0.text == text }?.answer }
    set {
      guard let newValue else { return }
      kept.append((text, newValue))
      size += Self.size(newValue)
      while size > Self.most, !kept.isEmpty { size -= Self.size(kept.removeFirst().answer) }
    }
  }

  private static func size(_ answer: Answer) -> Int { answer.candidates.count + answer.matches.count }
}
