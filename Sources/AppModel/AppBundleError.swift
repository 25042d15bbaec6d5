/// Why a folder cannot be launched as an app.
///
/// Each case's ``description`` is a sentence that names the file, the expected and the found value, and the remedy.
package enum AppBundleError: Error, Equatable, Sendable {
  /// There is nothing at the path.
  case bundleMissing(path: String)
  /// There is something at the path, and it is not a folder called `Name.app`.
  case notABundle(path: String, found: String)
  /// `Info.plist` is not there.
  case manifestMissing(path: String)
  /// A property list is there and could not be read.
  case unreadable(path: String, reason: String)
  /// A file holds something other than an XML or binary property list with a dictionary at its top.
  case notAPropertyList(path: String, reason: String)
  /// A key that must be there is not; `example` is a value that would do.
  case keyMissing(path: String, key: String, example: String)
  /// A key's value is of another type. `expected` and `found` have their article: "a string".
  case wrongType(path: String, key: String, expected: String, found: String)
  /// An entitlement is no boolean; `found` has its article.
  case wrongEntitlement(path: String, line: Int?, key: String, found: String)
  /// A key's value is of the right type and cannot be used; `problem` is the end of a sentence.
  case badValue(path: String, key: String, value: String, problem: String)
  /// The file that `CFBundleExecutable` names is not in the bundle. Shells say 127.
  case executableMissing(path: String, key: String)
  /// `CFBundleExecutable` names something that is no regular file; `found` has its article. Shells say 126.
  case executableNotAFile(path: String, found: String)
  /// The executable's mode has no execute bit; `mode` is its permission bits. Shells say 126.
  case notExecutable(path: String, mode: Int)
}

extension AppBundleError {
  /// The exit status of a launcher: 127 when there is nothing to run, 126 when it cannot be run, 125 for the rest.
  package var exitStatus: Int32 {
    switch self {
    case .bundleMissing, .executableMissing: 127
    case .executableNotAFile, .notExecutable: 126
    default: 125
    }
  }
}

extension AppBundleError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .bundleMissing(let path):
      "There is no app at \(path): check the path."
    case .notABundle(let path, let found):
      "\(path) is not an app bundle: expected a folder called Name.app, found \(found)."
    case .manifestMissing(let path):
      "\(path) is missing: an app bundle needs an Info.plist with CFBundleIdentifier and CFBundleExecutable. Add one."
    case .unreadable(let path, let reason):
      "\(path) cannot be read: \(reason)."
    case .notAPropertyList(let path, let reason):
      "\(path) is not a property list (XML or binary) with a dictionary at its top: \(reason). "
        + "Mend or replace the file."
    case .keyMissing(let path, let key, let example):
      "\(path) has no \(key): expected a string such as \(example.quoted). Add the key."
    case .wrongType(let path, _, _, _), .badValue(let path, _, _, _): "\(path): \(sentence)"
    case .wrongEntitlement(let path, let line, _, _): "\(path)\(line.map { ":\($0)" } ?? ""): \(sentence)"
    case .executableMissing(let path, let key):
      "\(path) is missing: \(key) in the Info.plist beside it names it. "
        + "Build or copy the program there, or change the key."
    case .executableNotAFile(let path, let found):
      "\(path) cannot be run: expected a regular file, found \(found). "
        + "Copy the program into the bundle under that name."
    case .notExecutable(let path, let mode):
      "\(path) is not executable (its mode is \(octal(mode))): run chmod +x on it."
    }
  }

  /// Of a value that is wrong the same without its place, for where that stands beside it.
  package var sentence: String {
    switch self {
    case .wrongType(_, let key, let expected, let found):
      "\(key) must be \(expected), and is \(found). Change the value."
    case .wrongEntitlement(_, _, let key, let found):
      "\(key) must be a boolean, and is \(found). Write <true/> or <false/>: what claims rights is not guessed at, and the App "
        + "Store refuses such an app as well."
    case .badValue(_, let key, let value, let problem):
      "\(key) cannot be \(value.quoted): \(problem). Change the value."
    default: description
    }
  }

  private func octal(_ mode: Int) -> String {
    let digits = String(mode, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
