internal import AppModel

/// Why a policy could not be loaded.
package enum PolicyError: Error, Equatable, Sendable {
  /// No policy has the name. `known` are the names there are, sorted; `searched` the folders looked in.
  case unknownName(name: String, known: [String], searched: [String])
  /// The file could not be read.
  case unreadable(path: String, reason: String)
  /// The file, or one that it inherits from, is wrong at a place.
  case invalid(SourceError)
  /// A word of a command line that is no limit, and why.
  case wrongLimit(String, String)
}

extension PolicyError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unknownName(let name, let known, let searched):
      "There is no policy called \(name.quoted)" + Self.hint(name, known, searched)
    case .unreadable(let path, let reason):
      "The policy file \(path) cannot be read: \(reason)."
    case .invalid(let error):
      error.description
    case .wrongLimit(let word, let reason):
      "--limit \(word): \(reason)"
    }
  }

  /// The rest of a sentence about a name that no policy has.
  static func hint(_ name: String, _ known: [String], _ searched: [String]) -> String {
    let nearest = known.nearest(to: name).map { "; did you mean \($0.quoted)?" } ?? "."
    let places = searched.isEmpty ? "" : " Looked in \(searched.joined(separator: ", ")) and among the built-in ones."
    return "\(nearest) Known policies: \(known.joined(separator: ", ")).\(places)"
  }
}
