internal import AppModel
package import Policy

/// What a policy says of an app's documents, as far as verdicts about them need it.
///
/// A value without a kernel: the broker asks it before it decides, `ambit why` before anything runs, and `ambit audit simulate` of
/// what another policy would have said.
package struct DocumentRules: Equatable, Sendable {
  /// Modes of the picker, by name.
  package var modes: [String] = [PickerMode.open.rawValue]
  /// Lower-case extensions of documents that the app may be given; `nil`: any.
  package var types: [String]?
  /// The app may be given whole folders.
  package var folders = true
  /// Entitlements for selections that an app in Apple's sandbox lacks.
  package var missingSelections: [String] = []
  /// Seconds after the user's decision for which grants may be used; `nil`: time does not end them.
  package var lifetime: Int?
  /// Grants end with the launch in which they were made.
  package var endsWithLaunch = false
  package var makesBookmarks = true
  package var documentBookmarks = true
  package var implicitBookmarks = true
  /// Entitlements for bookmarks that an app in Apple's sandbox lacks.
  package var missingBookmarks: [String] = []
  /// Seconds for which a bookmark can be resolved; `nil`: always.
  package var bookmarkLifetime: Int?

  package init() {}

  package init(_ capabilities: Capabilities) {
    modes = capabilities.picker.modes.map(\.rawValue)
    types = capabilities.picker.types.extensions
    folders = capabilities.picker.folders
    missingSelections = capabilities.missingSelections
    lifetime = capabilities.lifetime.seconds
    endsWithLaunch = capabilities.lifetime.withLaunch
    makesBookmarks = capabilities.bookmarks.create
    documentBookmarks = capabilities.bookmarks.documentScoped
    implicitBookmarks = capabilities.bookmarks.implicit
    missingBookmarks = capabilities.missingBookmarks
    bookmarkLifetime = capabilities.bookmarks.lifetime
  }

  /// Nanoseconds of so many seconds; the end of time where there are more than fit.
  static func nanoseconds(_ seconds: Int) -> Int64 {
    let (product, overflow) = Int64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .max : product
  }

  static func sum(_ time: Int64, _ seconds: Int) -> Int64 {
    let (sum, overflow) = time.addingReportingOverflow(nanoseconds(seconds))
    return overflow ? .max : sum
  }
}
