internal import Foundation

// The form in which events leave Ambit: absent members are left out, moments are RFC 3339 text, names are those of
// the Swift properties. Written out by hand, so that a renamed property does not change a format that others read.

extension AuditEvent: Codable {
  private enum Key: String, CodingKey {
    case sequence, time, kind, result, app, instance, pid, grant, document, how, rule, reason, detail
  }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    self.init(
      Kind(rawValue: try values.decode(String.self, forKey: .kind)),
      try values.decode(Result.self, forKey: .result),
      time: try values.decodeTimestamp(forKey: .time).date,
      app: try values.decodeIfPresent(String.self, forKey: .app),
      instance: try values.decodeIfPresent(String.self, forKey: .instance),
      pid: try values.decodeIfPresent(Int32.self, forKey: .pid),
      grant: try values.decodeIfPresent(String.self, forKey: .grant),
      document: try values.decodeIfPresent(Document.self, forKey: .document),
      how: try values.decodeIfPresent(String.self, forKey: .how),
      rule: try values.decodeIfPresent(String.self, forKey: .rule),
      reason: try values.decodeIfPresent(String.self, forKey: .reason),
      detail: try values.decodeIfPresent([String: String].self, forKey: .detail) ?? [:],
      sequence: try values.decode(Int64.self, forKey: .sequence))
  }

  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: Key.self)
    try values.encode(sequence, forKey: .sequence)
    try values.encode(Timestamp(time).text, forKey: .time)
    try values.encode(kind.rawValue, forKey: .kind)
    try values.encode(result, forKey: .result)
    try values.encodeIfPresent(app, forKey: .app)
    try values.encodeIfPresent(instance, forKey: .instance)
    try values.encodeIfPresent(pid, forKey: .pid)
    try values.encodeIfPresent(grant, forKey: .grant)
    try values.encodeIfPresent(document, forKey: .document)
    try values.encodeIfPresent(how, forKey: .how)
    try values.encodeIfPresent(rule, forKey: .rule)
    try values.encodeIfPresent(reason, forKey: .reason)
    if !detail.isEmpty { try values.encode(detail, forKey: .detail) }
  }

  /// One JSON object on one line, with its keys sorted, without a newline at its end.
  package func jsonLine() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }
}

extension AuditEvent.Document: Codable {
  private enum Key: String, CodingKey {
    case path, volume, inode, birth
  }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    self.init(
      path: try values.decode(String.self, forKey: .path),
      volume: try values.decodeIfPresent(String.self, forKey: .volume),
      inode: try values.decodeIfPresent(UInt64.self, forKey: .inode),
      birth: values.contains(.birth) ? try values.decodeTimestamp(forKey: .birth).date : nil)
  }

  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: Key.self)
    try values.encode(path, forKey: .path)
    try values.encodeIfPresent(volume, forKey: .volume)
    try values.encodeIfPresent(inode, forKey: .inode)
    try values.encodeIfPresent(birth.map { Timestamp($0).text }, forKey: .birth)
  }
}

extension KeyedDecodingContainer {
  fileprivate func decodeTimestamp(forKey key: Key) throws -> Timestamp {
    let text = try decode(String.self, forKey: key)
    guard let timestamp = Timestamp(text) else {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: self, debugDescription: "\"\(text)\" is not a time as RFC 3339 writes it")
    }
    return timestamp
  }
}
