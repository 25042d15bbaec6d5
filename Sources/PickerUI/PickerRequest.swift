package import Kernel
internal import Paths

/// An app's request to the user, as the broker accepted it.
///
/// Everything in it that the app wrote (`appName`, `message`, `types`) is untrusted: the code that shows it neutralises it.
package struct PickerRequest: Sendable, Equatable {
  /// As many as travel in one message (`SCM_MAX_FD` is 253), with room to spare.
  package static let mostChosen = 200

  /// The kind of document that may be chosen.
  package enum Kind: Sendable, Equatable { case file, folder }
  /// The app's rights to the choice.
  package enum Access: Sendable, Equatable { case readOnly, readWrite }

  /// The meaning of the choice.
  package enum Purpose: Sendable, Equatable {
    case open
    /// The app gets a copy.
    case copy
    /// The user chooses a folder for a copy of the app's files, by name.
    case export([String])
    /// For the files themselves.
    case move([String])

    /// The choice is a folder that things are put into, and not handed to the app.
    package var isDestination: Bool {
      switch self {
      case .open, .copy: false
      case .export, .move: true
      }
    }
  }

  /// An app's Documents. The name is the app's own, and untrusted.
  package struct Place: Sendable, Equatable {
    package let name: String
    /// Absolute path of the folder.
    package let path: String
    /// The identifier of a file provider that has a picker of its own.
    package let provider: String?

    package init(name: String, path: String, provider: String? = nil) {
      (self.name, self.path, self.provider) = (name, path, provider)
    }
  }

  /// The asking app's name, as its bundle has it.
  package var appName: String
  /// The app's own words; shown as a quotation, on lines of its own.
  package var message: String?
  /// Whether more than one document may be chosen (`PCK-8`).
  package var multiple: Bool
  package var kind: Kind
  package var purpose = Purpose.open
  package var access: Access
  /// File name extensions, without dot, that may be chosen (`PCK-7`); nil or empty: any. Only files have them.
  package var types: [String]?
  /// File name extensions, without dot, that the app's policy lets it have; nil: any.
  package var allowed: [String]?
  /// Lower-case extensions of folders that are documents: packages. Shown and chosen as one thing.
  package var packages: Set<String>
  /// Where else documents are to be found: those of apps that show them.
  package var places: [Place]
  /// The picker is a browser, the app's first screen.
  package var isBrowser = false
  /// The user may ask for a new document (`PCK-18`).
  package var creates = false
  /// Places of the documents that were used last, the last one first.
  package var recents: [String] = []
  /// The user has cancelled this app's requests several times in a row: they can end the app.
  package var isPestering = false
  /// Said first, made harmless: the reason why a provider's own picker has ended without a choice.
  package var notice: String?
  /// The acts on files that are offered, besides choosing them.
  package enum Acts: String, Sendable, Equatable {
    case none
    /// In an app's picker: nothing that starts another app.
    case safe
    /// In the user's own browser.
    case all
  }
  package var acts = Acts.none
  /// The app's own actions in its browser (`PCK-33`).
  package var actions: [Action] = []
  /// Names are shown without their extensions, but for that under the cursor.
  package var hidesExtensions = false
  package var style: Appearance?
  package var tint: Tint?
  /// Absolute path of the folder to begin in. The picker goes to the nearest folder above it that can be listed.
  package var startFolder: String

  package init(
    appName: String, message: String? = nil, multiple: Bool = false, kind: Kind = .file, access: Access = .readWrite,
    types: [String]? = nil, allowed: [String]? = nil, packages: Set<String> = [], places: [Place] = [],
    startFolder: String
  ) {
    self.appName = appName
    self.message = message
    self.multiple = multiple
    self.kind = kind
    self.access = access
    self.types = types
    self.allowed = allowed
    self.packages = packages
    self.places = places
    self.startFolder = startFolder
  }
}

extension PickerRequest {
  /// An action of an app's. Its words are untrusted.
  package struct Action: Sendable, Equatable {
    package let identifier: String
    package let title: String
    /// Documents are chosen for it; a button needs none.
    package let documents: Bool
    /// Extensions without dot; nil: any.
    package let types: [String]?
    package let multiple: Bool
    /// It begins the own picker of this file provider, and no app hears of it.
    package let provider: String?

    package init(
      identifier: String, title: String, documents: Bool, types: [String]?, multiple: Bool, provider: String? = nil
    ) {
      (self.identifier, self.title, self.documents) = (identifier, title, documents)
      (self.types, self.multiple, self.provider) = (types, multiple, provider)
    }

    /// The button that begins a provider's own picker.
    package init(of place: Place, provider: String) {
      self.init(
        identifier: Self.providers + provider, title: "Choose with \(place.name)", documents: false, types: nil,
        multiple: false, provider: provider)
    }

    /// No action of an app's begins so.
    package static let providers = "io.ambit.provider:"

    /// Whose it is, for the end of a line.
    package var origin: String { provider == nil ? "by the app" : "by the provider" }
  }

  /// Adds buttons for the own pickers of providers, where documents are chosen to be opened or copied.
  package mutating func addProviders() {
    actions.removeAll { $0.identifier.hasPrefix(Action.providers) }
    guard kind == .file, !purpose.isDestination else { return }
    actions += places.compactMap { place in place.provider.map { Action(of: place, provider: $0) } }.prefix(4)
  }

  /// The colours that an app asks for.
  package enum Appearance: String, Sendable, Equatable { case white, light, dark }

  /// An accent colour.
  package struct Tint: Sendable, Equatable {
    /// Red, green, blue.
    package let parts: [UInt8]

    /// - Parameter text: “#rrggbb”.
    package init?(_ text: String) {
      let bytes = Array(text.utf8)
      guard bytes.count == 7, bytes[0] == 0x23, let value = UInt32(text.dropFirst(), radix: 16), bytes[1] != 0x2B
      else { return nil }
      parts = [UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
    }

    package var text: String {
      "#" + parts.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Whether it can be read on black and on white, since the terminal's background is not known: an app must not hide the
    /// picker's words. By relative luminance (WCAG 2.1), with a contrast of 3 to both.
    package var isLegible: Bool {
      let weights = [0.2126, 0.7152, 0.0722]
      let luminance = zip(parts, weights).reduce(0.0) { sum, part in
        let value = Double(part.0) / 255
        // The square is near enough to the transfer function.
        return sum + part.1 * value * value
      }
      return luminance >= 0.1 && luminance <= 0.3
    }
  }
}

/// A document that the user chose, held open since the moment of the choice.
package struct PickedDocument: Sendable {
  /// Absolute path without symbolic links at the time of the choice. For people and records; `descriptor` is the truth.
  package let path: String
  /// The document itself, opened `O_PATH | O_NOFOLLOW | O_CLOEXEC`: never a symbolic link.
  package let descriptor: Descriptor
  /// Whether it is a regular file or a folder; nothing else is ever a document.
  package let kind: PickerRequest.Kind

  package init(path: String, descriptor: Descriptor, kind: PickerRequest.Kind) {
    self.path = path
    self.descriptor = descriptor
    self.kind = kind
  }

  /// The last component of `path`.
  package var name: String { path.lastPathName }

  /// The user's own rights to it. An app is given no more.
  package var userAccess: UserAccess { descriptor.userAccess(ofFolder: kind == .folder) }

  /// Whether this is the same file in the same place. Both are open: the kernel gives an open file's number to no other.
  func isSame(as other: PickedDocument) -> Bool {
    guard let mine = try? descriptor.status(), let its = try? other.descriptor.status() else { return false }
    return mine.device == its.device && mine.inode == its.inode && mine.birth == its.birth
      && path.isSamePath(as: other.path)
  }
}

/// How a picker ended (`PCK-8`, `PCK-9`).
package enum PickerOutcome: Sendable {
  /// One document, or one or more when `PickerRequest.multiple`, in the order in which they were chosen.
  case picked([PickedDocument])
  /// The user chose nothing.
  case cancelled
  /// The user asks for a new document: in this folder, or, in a list of documents from everywhere, in no folder of theirs.
  case create(PickedDocument?)
  /// The user chose nothing, and wants the app to end.
  case endApp
  /// The user chose an action, with its line, for these documents: one of the app's own, or one that the caller carries out
  /// (``FileAction/open``, ``FileAction/share``).
  case acted(String, String, [PickedDocument])
}
