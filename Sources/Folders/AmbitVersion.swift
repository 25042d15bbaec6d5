package enum AmbitVersion {
  /// Of the launcher, the tools and the broker alike: they are installed together.
  package static let current = "0.1.0"
}
