/// The page's style sheet. Nothing is loaded: fonts are the reader's own.
enum ReportStyle {
  static var sheet: String { ReportPalette.style + "\n" + rules + "\n" + figures + "\n" + media }

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
    .badge{display:inline-flex;gap:.45em;align-items:baseline;font-weight:600}
    .badge.verified{color:var(--good)}.badge.damaged{color:var(--refused)}.badge.unchecked{color:var(--quiet)}
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
    .mark.used{color:var(--used)}.mark.granted{color:var(--granted)}.mark.refused{color:var(--refused)}.mark.leak{color:var(--leak)}.mark.good{color:var(--good)}
    .name{display:block;font-weight:560}
    .where{display:block;color:var(--quiet);font-weight:400}
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
