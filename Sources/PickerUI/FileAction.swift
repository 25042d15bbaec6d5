package import Kernel
internal import Paths

/// The user's acts on files in the picker, besides choosing them. The app that asks learns nothing of them, but for the news that
/// coordination tells the apps that present the file.
package enum FileAction: String, Sendable, CaseIterable {
  case rename, duplicate, move, trash, restore, tag, favourite, reveal, copyPath, open, share

  /// Its key in the menu.
  package var letter: Unicode.Scalar {
    switch self {
    case .rename: "r"
    case .duplicate: "d"
    case .move: "m"
    case .trash: "t"
    case .restore: "b"
    case .tag: "g"
    case .favourite: "f"
    case .reveal: "s"
    case .copyPath: "c"
    case .open: "o"
    case .share: "h"
    }
  }

  package var title: String {
    switch self {
    case .rename: "Rename…"
    case .duplicate: "Duplicate"
    case .move: "Move to…"
    case .trash: "Move to the trash"
    case .restore: "Put back where it was"
    case .tag: "Tag, or remove a tag…"
    case .favourite: "Favourite, or not"
    case .reveal: "Show in its folder"
    case .copyPath: "Copy its path"
    case .open: "Open with…"
    case .share: "Apps that take it"
    }
  }

  /// It is about one file at a time.
  package var isSingle: Bool { [.rename, .reveal, .open, .share].contains(self) }

  /// The line that it asks for before; `nil`: none.
  package var question: String? {
    switch self {
    case .rename: "New name"
    case .move: "Folder"
    case .tag: "Tag"
    case .open: "App, or nothing for its own"
    default: nil
    }
  }

  /// Those that make sense where the user is.
  ///
  /// - Parameters:
  ///   - isUsers: the browser is the user's own, and asks for no app: it may start another one.
  ///   - isCollection: the rows are files of many folders.
  package static func offered(isUsers: Bool, isCollection: Bool, isTrash: Bool) -> [FileAction] {
    if isTrash { return [.restore, .copyPath] }
    return allCases.filter { action in
      switch action {
      case .restore: false
      case .reveal: isCollection
      case .open, .share: isUsers
      default: true
      }
    }
  }
}

/// Places of the user's that are no folders: files from everywhere.
package enum UserPlace: String, Sendable, CaseIterable {
  case favourites, tagged, trash

  package var title: String {
    switch self {
    case .favourites: "Favourites"
    case .tagged: "Tagged"
    case .trash: "Trash"
    }
  }
}

package struct FileActReply: Sendable {
  /// For the user.
  package var sentence: String
  package var isDone = true
  /// Where the files are now; of a place, its files.
  package var paths: [String] = []

  package init(sentence: String, isDone: Bool = true, paths: [String] = []) {
    (self.sentence, self.isDone, self.paths) = (sentence, isDone, paths)
  }
}

/// Carries the user's acts out, outside of the picker: each has to be coordinated with the apps that present the files.
package struct FileActor: Sendable {
  /// The act's name, its line, and the very files that it is about.
  package typealias Perform = @Sendable (_ act: String, _ argument: String, _ files: [Descriptor]) -> FileActReply
  private let carryOut: Perform

  package init(_ carryOut: @escaping Perform) { self.carryOut = carryOut }

  package func perform(_ action: FileAction, _ argument: String, on files: [PickedDocument]) -> FileActReply {
    carryOut(action.rawValue, argument, files.map(\.descriptor))
  }

  package func list(_ place: UserPlace, _ argument: String = "") -> FileActReply {
    carryOut(place.rawValue, argument, [])
  }
}

extension String {
  /// The last name of a path.
  var lastName: String { lastPathName }

  /// A file's name without its extension, as an app's browser may show it.
  var withoutExtension: String {
    guard let dot = lastIndex(of: "."), dot != startIndex, self[dot...].utf8.count <= 32 else { return self }
    return String(self[..<dot])
  }
}
