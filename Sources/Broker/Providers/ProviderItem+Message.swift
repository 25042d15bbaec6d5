package import FileProviders
package import Wire

extension ProviderItem {
  /// As an extension sent it; unknown capabilities are none.
  package init(_ message: ProviderItemMessage) {
    self.init(
      identifier: message.identifier, parent: message.parent, filename: message.filename, isFolder: message.folder,
      contentType: message.contentType, size: message.size, modified: message.modified, version: message.version,
      capabilities: Capabilities(words: message.capabilities), marks: Marks(words: message.marks))
  }

  var message: ProviderItemMessage {
    ProviderItemMessage(
      identifier: identifier, parent: parent, filename: filename, folder: isFolder, contentType: contentType,
      size: size, modified: modified, version: version, capabilities: capabilities.words, marks: marks.words)
  }
}
