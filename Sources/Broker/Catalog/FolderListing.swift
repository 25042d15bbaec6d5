internal import Paths

/// The reading of one app's own folders for its catalog.
struct FolderListing {
  /// Folders whose content is being read, or was, since queries of the app began. The catalog's entries of others are of another time.
  var begun: Set<PathKey> = []
  /// Those of them that were read to their end.
  var read: Set<PathKey> = []
  /// All of them were.
  var isWhole: Bool
  /// Folders that are to be read by a thread.
  var waiting: [String] = []
  var isReading = false
  /// Places at which something has happened while a thread was reading: they are looked at again when it is done.
  var touched: Set<Place> = []
  /// Folders that there was no room to watch.
  var unwatched: Set<PathKey> = []
  /// There are more documents than a catalog takes.
  var isFull = false
  /// How many may be added at least, before they are counted again.
  var room = 0

  struct Place: Hashable {
    let folder: PathKey
    let name: PathKey

    init(_ folder: String, _ name: String) { (self.folder, self.name) = (PathKey(folder), PathKey(name)) }
    var inner: String { LocalFiles.inner(folder.text, name.text) }
  }

  init(isWhole: Bool) { self.isWhole = isWhole }

  /// Nothing has to be read.
  var isSettled: Bool { isWhole && !isReading && waiting.isEmpty }

  /// A folder is at another place, with all that was known of it.
  mutating func move(_ old: String, _ new: String) {
    for path in begun {
      guard let rest = path.text.path(within: old) else { continue }
      let now = PathKey(rest.isEmpty ? new : new.path(of: rest))
      begun.remove(path)
      begun.insert(now)
      if read.remove(path) != nil { read.insert(now) }
    }
  }
}
