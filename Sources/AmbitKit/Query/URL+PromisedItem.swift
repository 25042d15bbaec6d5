public import Foundation

extension URL {
  /// Values of a document without its content, and without coordination. An item that is here has them at once.
  ///
  /// Without providers every item is here; an external one while it is started.
  public func promisedItemResourceValues(forKeys keys: Set<URLResourceKey>) throws -> URLResourceValues {
    try resourceValues(forKeys: keys)
  }

  /// Whether the document can be named, whether or not its content is here.
  ///
  /// - Throws: where that cannot be told.
  public func checkPromisedItemIsReachable() throws -> Bool { try checkResourceIsReachable() }
}
