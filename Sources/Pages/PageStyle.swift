/// The style that every page of Ambit's has: type, colours by purpose, tables, focus. Nothing is loaded: fonts are the reader's own.
package enum PageStyle {
  package static var sheet: String { Palette.style + "\n" + rules }

  private static let rules = """
    *{box-sizing:border-box}
    html{font:16px/1.55 system-ui,-apple-system,"Segoe UI","Noto Sans","DejaVu Sans",sans-serif;-webkit-text-size-adjust:100%}
    body{margin:0;background:var(--ground);color:var(--ink)}
    header,main,footer{max-width:74rem;margin:0 auto;padding:0 1.5rem}
    .skip{position:absolute;left:1rem;top:-4rem;padding:.5rem .9rem;background:var(--sheet);color:var(--link);border:2px solid;border-radius:6px;z-index:2}
    .skip:focus{top:1rem}
    a{color:var(--link);text-underline-offset:.15em}
    a:focus-visible,input:focus-visible,[tabindex]:focus-visible,summary:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:3px}
    header{padding-top:3rem}
    .brand{margin:0;color:var(--quiet);font-weight:600;font-size:.875rem;letter-spacing:.02em}
    h1{margin:.1rem 0 .4rem;font-size:2.1rem;line-height:1.2;letter-spacing:-.015em;font-weight:680}
    h2{margin:0 0 .5rem;font-size:1.4rem;line-height:1.3;letter-spacing:-.01em;font-weight:660}
    h3{margin:2rem 0 .25rem;font-size:1.05rem;line-height:1.4;font-weight:640}
    h4{margin:1.1rem 0 .3rem;font-size:.95rem;font-weight:620}
    p{margin:.35rem 0;max-width:52rem;text-wrap:pretty}
    h1,h2,h3,h4,p,dd,li,caption{overflow-wrap:anywhere}
    .quiet{color:var(--quiet)}
    .small{font-size:.875rem}
    code,.path{font-family:ui-monospace,"SF Mono","Cascadia Mono","Noto Sans Mono","DejaVu Sans Mono",monospace;font-size:.86em;overflow-wrap:anywhere}
    .where.path{word-break:break-all}
    .u{font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:.85em;color:var(--refused);border:1px solid;border-radius:3px;padding:0 .2em;margin:0 .1em;white-space:nowrap}
    .facts{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1.2rem;margin:1.2rem 0 0;font-size:.94rem}
    .facts dt{color:var(--quiet)}.facts dd{margin:0;min-width:0;overflow-wrap:anywhere}
    .numbers{display:grid;grid-template-columns:repeat(auto-fit,minmax(8rem,1fr));gap:0;margin:1.8rem 0 0;border:1px solid var(--hair);border-radius:10px;background:var(--sheet);overflow:hidden}
    .numbers div{display:flex;flex-direction:column-reverse;padding:.9rem 1.1rem;box-shadow:-1px 0 var(--hair),0 -1px var(--hair)}
    .numbers dt{color:var(--quiet);font-size:.84rem}
    .numbers dd{margin:0;font-size:1.65rem;line-height:1.25;font-weight:620;font-variant-numeric:tabular-nums;letter-spacing:-.01em}
    .numbers .bad dd{color:var(--refused)}.numbers .leak dd{color:var(--leak)}
    nav{margin:1.5rem 0 0;font-size:.94rem}
    nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1.4rem;list-style:none;margin:0;padding:0}
    section{margin:3rem 0 0}
    footer{margin-top:3.5rem;padding-bottom:4rem}
    footer{color:var(--quiet);font-size:.875rem}
    .scroll{overflow-x:auto;margin:.9rem 0 0;background:var(--sheet);border:1px solid var(--hair);border-radius:10px}
    table{border-collapse:collapse;width:100%;font-size:.9rem}
    caption{text-align:start;padding:.8rem 1rem .2rem;font-weight:620;font-size:.94rem}
    th,td{text-align:start;vertical-align:top;padding:.5rem .6rem;border-top:1px solid var(--hair);overflow-wrap:anywhere}
    th:first-child,td:first-child{padding-inline-start:1rem}
    th:last-child,td:last-child{padding-inline-end:1rem}
    thead th{border-top:0;color:var(--quiet);font-weight:600;font-size:.82rem;vertical-align:bottom;overflow-wrap:normal}
    tbody th{font-weight:560}
    .n{text-align:end;font-variant-numeric:tabular-nums;white-space:nowrap}
    .time{white-space:nowrap;font-variant-numeric:tabular-nums}
    tr:target{background:var(--tint);box-shadow:inset 3px 0 var(--link)}
    .mark{font-weight:600;white-space:nowrap}
    .name{display:block;font-weight:560}
    .where{display:block;color:var(--quiet);font-weight:400}
    .hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
    """
}
