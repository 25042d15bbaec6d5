/// How many single changes (a character added, dropped or replaced, or two neighbours swapped) lie between two words.
package func editDistance(_ left: String, _ right: String) -> Int {
  let left = Array(left.unicodeScalars)
  let right = Array(right.unicodeScalars)
  var beforePrevious: [Int] = []
  var previous = Array(0...right.count)
  for row in 0..<left.count {
    var current = [row + 1]
    for column in 0..<right.count {
      let same = left[row] == right[column]
      var best = min(previous[column + 1] + 1, current[column] + 1, previous[column] + (same ? 0 : 1))
      if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
        best = min(best, beforePrevious[column - 1] + 1)
      }
      current.append(best)
    }
    beforePrevious = previous
    previous = current
  }
  return previous[right.count]
}

extension Collection where Element == String {
  /// The member that a mistyped word most likely stands for: at most a third of its letters wrong (one letter in
  /// short words), or the same word in other case. `nil` when none is that near.
  package func nearest(to word: String) -> String? {
    // A word that long is no slip of the finger, and its distance is not worth its square in time.
    guard word.unicodeScalars.count <= 64 else { return nil }
    let allowed = Swift.max(1, word.unicodeScalars.count / 3)
    return map { (distance: editDistance(word.lowercased(), $0.lowercased()), word: $0) }
      .filter { $0.distance <= allowed }
      .min { ($0.distance, $0.word) < ($1.distance, $1.word) }?
      .word
  }
}
