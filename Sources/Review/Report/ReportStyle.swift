internal import Pages

/// The page's style sheet. Nothing is loaded: fonts are the reader's own.
enum ReportStyle {
  static var sheet: String { PageStyle.sheet + "\n" + rules + "\n" + figures + "\n" + media }

  private static let rules = """
    .badge{display:inline-flex;gap:.45em;align-items:baseline;font-weight:600}
    .badge.verified{color:var(--good)}.badge.damaged{color:var(--refused)}.badge.unchecked{color:var(--quiet)}
    .mark.used{color:var(--used)}.mark.granted{color:var(--granted)}.mark.refused{color:var(--refused)}.mark.leak{color:var(--leak)}.mark.good{color:var(--good)}
    .filter{display:flex;flex-wrap:wrap;gap:.3rem .8rem;align-items:center;margin:1rem 0 -.2rem;font-size:.9rem}
    .filter input{font:inherit;color:inherit;background:var(--sheet);border:1px solid var(--rule);border-radius:6px;padding:.3rem .6rem;min-width:16rem}
    .legend{display:flex;flex-wrap:wrap;gap:.25rem 1.4rem;list-style:none;margin:.7rem 0 0;padding:0;font-size:.86rem;color:var(--quiet)}
    .legend li{display:flex;gap:.5rem;align-items:center}
    .legend svg{flex:none;width:34px;height:14px}
    table[id^=policy]{table-layout:fixed}
    table[id^=policy] .cell-words{width:14%}
    table[id^=policy] .cell-document:first-child{width:46%}
    table[id^=policy] tbody th,.plain{font-weight:400}
    .strong{font-weight:560}
    """

  private static let figures = """
    figure{margin:.9rem 0 0}
    figure .scroll{margin:0;padding:1rem}
    figcaption{font-size:.94rem}
    .scroll>svg{display:block;width:100%;min-width:46rem;height:auto}
    svg text{font-family:inherit;fill:var(--ink)}
    svg .t{font-size:13px;font-weight:600}
    svg .s{font-size:11.5px;fill:var(--quiet)}
    svg .n{font-size:11.5px;fill:var(--quiet);font-variant-numeric:tabular-nums}
    svg .e{text-anchor:end}
    svg .m{text-anchor:middle}
    svg .box{fill:var(--sheet);stroke:var(--rule);stroke-width:1}
    svg .folder{fill:var(--tint)}
    svg a:hover .box,svg a:focus .box{stroke:var(--link);stroke-width:2.5}
    svg a:focus{outline:none}
    svg a:focus-visible .box{stroke-width:3}
    svg a{text-decoration:none}
    .edge{fill:none;stroke-linecap:round}
    .edge.used{stroke:var(--used)}
    .edge.granted{stroke:var(--granted);stroke-dasharray:1.5 5}
    .edge.refused{stroke:var(--refused);stroke-dasharray:7 5}
    .edge.leaky{stroke:var(--leak)}
    .end{stroke-width:1.5}
    .end.used{stroke:var(--used);fill:var(--used)}
    .end.granted{stroke:var(--granted);fill:var(--granted)}
    .end.leaky{stroke:var(--leak);fill:var(--leak)}
    .end.refused{stroke:var(--refused);stroke-width:2.2;fill:none}
    .end.readOnly{fill:var(--sheet)}
    .dimmed .edge:not(.near),.dimmed .end:not(.near){opacity:.14}
    .edge,.end{transition:opacity .15s}
    .grid{stroke:var(--hair);stroke-width:1}
    .axis{stroke:var(--rule);stroke-width:1}
    .bar{fill:var(--used)}
    .bar.leak{fill:var(--leak)}
    .bar.unsure{fill:none;stroke:var(--used);stroke-dasharray:3 3}
    .bar.open{fill:var(--used);stroke:var(--used)}
    .leakmark{fill:var(--sheet);stroke:var(--leak);stroke-width:2}
    .inuse{fill:none;stroke:var(--used);stroke-width:2;stroke-linejoin:round}
    .under{fill:var(--used);opacity:.12}
    .limit{stroke:var(--refused);stroke-width:1.5;stroke-dasharray:6 4}
    svg .limitword{fill:var(--refused);font-weight:600;font-size:11.5px}
    .cross{stroke:var(--refused);stroke-width:2;stroke-linecap:round}
    .share{fill:var(--refused)}
    .track{fill:var(--tint)}
    .cell-app{min-width:12.6rem}.cell-document{min-width:14rem}.cell-words{min-width:9rem}.cell-word{min-width:6.2rem}
    td svg{display:block;width:7rem;height:.6rem;margin-top:.35rem}
    """

  private static let media = """
    @media (prefers-reduced-motion:reduce){*{transition:none!important;scroll-behavior:auto!important}}
    @media (forced-colors:active){
    :root{--ground:Canvas;--sheet:Canvas;--tint:Canvas;--ink:CanvasText;--quiet:CanvasText;--hair:CanvasText;--rule:CanvasText;--link:LinkText;--used:CanvasText;--granted:CanvasText;--refused:CanvasText;--leak:CanvasText;--good:CanvasText}
    .under{display:none}
    svg a:hover .box,svg a:focus .box{stroke:Highlight}
    .track{stroke:CanvasText}
    .grid{stroke-dasharray:1 5}
    tr:target{outline:3px solid Highlight;outline-offset:-3px}
    }
    @media (max-width:40rem){header,main,footer{padding:0 1rem}header{padding-top:1.5rem}.facts{grid-template-columns:1fr}.facts dd{margin-bottom:.4rem}}
    @media print{
    @page{margin:16mm 14mm}
    html{font-size:9.5pt}
    body{background:#fff}
    header,main,footer{max-width:none;padding:0}
    header{padding-top:0}
    nav,.skip,.filter{display:none}
    section{margin-top:2rem}
    .scroll{overflow:visible;border-radius:0;border-color:var(--rule)}
    table{font-size:8pt}
    th,td{padding:.3rem .35rem}
    .cell-app{min-width:24mm}.cell-document{min-width:30mm}.cell-words{min-width:20mm}.cell-word{min-width:19mm}
    td svg{width:14mm}
    figure .scroll{padding:2mm}
    .scroll>svg{min-width:0}
    h2,h3,h4,h2+p,h3+p,.legend:not(figure *),caption,thead{break-after:avoid}
    tbody tr:first-child{break-before:avoid}
    figure,tr,.numbers,.scroll:has(table[id^=policy]),.scroll:has(table[id^=marks]){break-inside:avoid}
    thead{display:table-header-group}
    a{color:inherit;text-decoration:none}
    .bar,.share,.under,.track,.folder{-webkit-print-color-adjust:exact;print-color-adjust:exact}
    }
    """
}
