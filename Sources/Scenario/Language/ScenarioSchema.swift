package import Wire

/// The language as a JSON Schema (draft 2020-12), for editors that check TOML with one, and as a reference.
package enum ScenarioSchema {
  package static var json: JSONObject {
    [
      "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Ambit scenario", "type": "object",
      "required": ["title", "step"], "additionalProperties": false,
      "properties": [
        "title": text("The scenario in a few words."), "about": text("A sentence or two below the title."),
        "entry": text("The statement of the catalogue that it shows, for example TOK-3."),
        "statement": text("That statement, as the catalogue has it."), "source": text("Its source."),
        "strength": ["enum": ["A", "B", "C", "D"], "description": "Its strength."],
        "policy": text("The policy of each launch that names none."),
        "policies": texts("Policies that it is played under, one after the other."),
        "users": list(Scenario.User.allCases.map(\.rawValue), "Users that it is played as; none: every user."),
        "needs": list(Capability.allCases.map(\.rawValue), "What a system needs to have for it."),
        "features": texts("What the machine needs to have: program:NAME, fs:NAME, loop-devices."),
        "variables": [
          "type": "object", "additionalProperties": ["type": "string"], "description": "Variables, in order.",
        ],
        "timeout": seconds("Seconds for each wait."), "set_up": actions("Before the steps."),
        "tear_down": actions("After the steps, also after one that failed."),
        "step": [
          "type": "array",
          "items": [
            "type": "object", "required": ["say"], "additionalProperties": false,
            "properties": [
              "say": text("What a person learns from the step."), "rules": texts("Statements that it shows as well."),
              "for_each": ["type": "object", "description": "One variable and its values.", "maxProperties": 1],
              "do": actions("Acts and questions."),
            ],
          ],
        ],
      ],
      "$defs": ["action": ["oneOf": .array(HostWord.all.map(host) + AppWord.all.map(app))]],
    ]
  }

  private static func text(_ description: String) -> JSONValue {
    ["type": "string", "description": .string(description)]
  }

  private static func texts(_ description: String) -> JSONValue {
    ["type": ["string", "array"], "items": ["type": "string"], "description": .string(description)]
  }

  private static func list(_ words: [String], _ description: String) -> JSONValue {
    ["type": "array", "items": ["enum": .array(words.map { .string($0) })], "description": .string(description)]
  }

  private static func seconds(_ description: String) -> JSONValue {
    ["type": "number", "exclusiveMinimum": 0, "maximum": 86_400, "description": .string(description)]
  }

  private static func actions(_ description: String) -> JSONValue {
    ["type": "array", "items": ["$ref": "#/$defs/action"], "description": .string(description)]
  }

  private static func host(_ word: HostWord) -> JSONValue {
    var properties: JSONObject = [word.word: ["description": .string(word.says)]]
    for key in word.keys + HostWord.common { properties[key] = .object([:]) }
    return shape([word.word], properties)
  }

  private static func app(_ word: AppWord) -> JSONValue {
    var properties: JSONObject = [word.word: ["description": .string(word.says)]]
    for key in ScenarioReader.keys(of: word) { properties[key] = .object([:]) }
    return shape(["app", word.word], properties)
  }

  private static func shape(_ required: [String], _ properties: JSONObject) -> JSONValue {
    [
      "type": "object", "required": .array(required.map { .string($0) }), "additionalProperties": false,
      "properties": .object(properties),
    ]
  }
}
