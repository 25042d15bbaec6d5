/// The page's colours by their purpose, each for a light and a dark scheme. On either ground each ink has a contrast of 4.5 to 1 at
/// least, each line that means something 3 to 1 (WCAG 2.2: 1.4.3, 1.4.11).
package enum Palette {
  struct Colour {
    let name: String
    let light: String
    let dark: String
  }

  static let colours: [Colour] = [
    Colour(name: "ground", light: "#f7f7f5", dark: "#121417"),
    Colour(name: "sheet", light: "#ffffff", dark: "#1a1d21"),
    Colour(name: "tint", light: "#f1f2f0", dark: "#22262b"),
    Colour(name: "ink", light: "#1b1d20", dark: "#e9eaec"),
    Colour(name: "quiet", light: "#565b63", dark: "#a6acb5"),
    Colour(name: "hair", light: "#dcded9", dark: "#32373e"),
    Colour(name: "rule", light: "#82878f", dark: "#79808a"),
    Colour(name: "link", light: "#1d5aa8", dark: "#86b7f5"),
    Colour(name: "used", light: "#1f66a8", dark: "#6ba8e8"),
    Colour(name: "granted", light: "#62676f", dark: "#9aa1ab"),
    Colour(name: "refused", light: "#b0281c", dark: "#f28b7d"),
    Colour(name: "leak", light: "#8a4b00", dark: "#e7b054"),
    Colour(name: "good", light: "#1d6b41", dark: "#79cf9f"),
  ]

  private static func variables(_ pick: (Colour) -> String) -> String {
    colours.map { "--\($0.name):\(pick($0))" }.joined(separator: ";")
  }

  /// On paper it is always light.
  package static var style: String {
    """
    :root{color-scheme:light dark;\(variables(\.light))}
    @media screen and (prefers-color-scheme:dark){:root{\(variables(\.dark))}}
    """
  }
}
