import TOMLKit

/// Reads TOML into nodes. TOMLKit parses; it keeps no places, so ``TOMLPlaces`` finds them.
enum TOMLFile {
  /// - Throws: ``ScenarioError`` with the place of what is not TOML.
  static func parse(_ text: String, file: String) throws(ScenarioError) -> Node {
    let table: TOMLTable
    do {
      table = try TOMLTable(string: text)
    } catch let error as TOMLParseError {
      let begin = error.source.begin
      throw ScenarioError(
        file: file, place: Place(line: begin.line, column: begin.column), message: "not TOML: \(error.description)")
    } catch {
      throw ScenarioError(file: file, place: nil, message: "not TOML: \(error)")
    }
    let places = TOMLPlaces.find(in: text)
    return node(of: table, path: [], places, within: Place(line: 1, column: 1))
  }

  private static func node(
    of value: any TOMLValueConvertible, path: [TOMLPlaces.Step], _ places: [[TOMLPlaces.Step]: Place], within: Place
  ) -> Node {
    let place = places[path] ?? within
    func plain(_ value: Node.Value) -> Node { Node(value: value, place: place) }
    if let string = value.string { return plain(.string(string)) }
    if let bool = value.bool { return plain(.bool(bool)) }
    if let integer = value.int { return plain(.integer(integer)) }
    if let double = value.double { return plain(.float(double)) }
    if let array = value.array {
      return plain(
        .array(array.enumerated().map { node(of: $1, path: path + [.index($0)], places, within: place) }))
    }
    if let table = value.table {
      var members: [String: Node] = [:]
      for (key, value) in table { members[key] = node(of: value, path: path + [.key(key)], places, within: place) }
      return plain(.table(members))
    }
    return plain(.other("a date or time"))
  }
}
