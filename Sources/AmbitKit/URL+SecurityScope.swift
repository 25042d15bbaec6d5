public import Foundation

/// Apple's names, so that code written for Apple's systems compiles here and means the same.
///
/// The scope of a URL stands in its fragment: a copy of the URL has it, also one that was extended by
/// `appendingPathComponent`; `URL(fileURLWithPath: url.path)` does not (`TOK-7`, `TOK-8`). Of Foundation's own methods,
/// `standardizedFileURL` and `resolvingSymlinksInPath()` leave it out.
extension URL {
  /// Makes the document that the user picked appear at this URL's path, until the start is balanced by
  /// `stopAccessingSecurityScopedResource()`. Starts are counted per process.
  ///
  /// A URL without scope answers false without a call to the broker. That includes every URL in the app's own
  /// container, where access needs no start, and start and stop have no effect (`TOK-10`).
  ///
  /// - Parameters: `fileID` and `line` tell the broker where the scope was started, so that one that was never stopped
  ///   can be found (`LIM-8`). Leave them out.
  /// - Returns: false when nothing was started; `SecurityScope.lastError` then says why.
  public func startAccessingSecurityScopedResource(fileID: String = #fileID, line: Int = #line) -> Bool {
    SecurityScope.remembering { try SecurityScope.start(self, caller: "\(fileID):\(line)") } != nil
  }

  /// Balances one start. After the last one, the document can no longer be opened at this URL's path. With nothing
  /// started, nothing happens.
  public func stopAccessingSecurityScopedResource() {
    _ = SecurityScope.remembering { try SecurityScope.stop(self) }
  }
}
