export const DOCS_STYLE = `
:root{--bg:#fbfbfd;--panel:#fff;--text:#1c2230;--muted:#667085;--line:#e4e7ec;--code:#f3f5f8;--accent:#3056d3;
--get:#0b7a4b;--post:#3056d3;--put:#9a5b00;--patch:#7a3db8;--delete:#b42318}
:root[data-theme=dark]{--bg:#11141a;--panel:#181c24;--text:#e6e9ef;--muted:#98a2b3;--line:#2a303c;--code:#0d1016;--accent:#8aa4ff;
--get:#4cc38a;--post:#8aa4ff;--put:#f0b454;--patch:#c79bff;--delete:#ff8a80}
@media (prefers-color-scheme:dark){:root:not([data-theme=light]){--bg:#11141a;--panel:#181c24;--text:#e6e9ef;--muted:#98a2b3;--line:#2a303c;--code:#0d1016;--accent:#8aa4ff;
--get:#4cc38a;--post:#8aa4ff;--put:#f0b454;--patch:#c79bff;--delete:#ff8a80}}
*{box-sizing:border-box}
html{scroll-padding-top:4.5rem}
body{margin:0;background:var(--bg);color:var(--text);font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
header{position:sticky;top:0;z-index:2;display:flex;gap:1rem;align-items:center;padding:.7rem 1.25rem;background:var(--panel);border-bottom:1px solid var(--line)}
.brand{font-weight:700;font-size:1.1rem;color:var(--text);text-decoration:none}.brand span{color:var(--accent)}
#search{flex:1;max-width:32rem;padding:.45rem .8rem;border:1px solid var(--line);border-radius:8px;background:var(--bg);color:var(--text);font:inherit}
#search:focus-visible,button:focus-visible,summary:focus-visible,a:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
button{border:1px solid var(--line);background:var(--panel);color:var(--text);border-radius:8px;padding:.35rem .65rem;font:inherit;cursor:pointer}
.layout{display:grid;grid-template-columns:14rem minmax(0,1fr);max-width:80rem;margin:0 auto}
nav{position:sticky;top:3.6rem;align-self:start;max-height:calc(100vh - 3.6rem);overflow:auto;padding:1.25rem}
nav a{display:flex;justify-content:space-between;padding:.2rem .5rem;border-radius:6px;color:var(--muted);text-decoration:none}
nav a:hover{background:var(--code);color:var(--text)}
main{padding:1.5rem 1.25rem 6rem}
h1{font-size:1.7rem;margin:.2rem 0 .5rem}h2{font-size:1.15rem;margin:2.2rem 0 .7rem;text-transform:capitalize}h3{font-size:.8rem;letter-spacing:.05em;text-transform:uppercase;color:var(--muted);margin:1.2rem 0 .4rem}
.muted{color:var(--muted)}
details.op{background:var(--panel);border:1px solid var(--line);border-radius:10px;margin:.5rem 0}
details.op>summary{display:flex;gap:.75rem;align-items:baseline;padding:.6rem .9rem;cursor:pointer;list-style:none;flex-wrap:wrap}
details.op>summary::-webkit-details-marker{display:none}
details.op>div{padding:0 .9rem 1rem;border-top:1px solid var(--line)}
.method{font:600 .75rem/1.6 ui-monospace,SFMono-Regular,Menlo,monospace;min-width:4rem}
.get{color:var(--get)}.post{color:var(--post)}.put{color:var(--put)}.patch{color:var(--patch)}.delete{color:var(--delete)}
code,pre{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,monospace}
.path{font-weight:600}
pre{position:relative;background:var(--code);border:1px solid var(--line);border-radius:8px;padding:.7rem .9rem;overflow:auto;margin:.3rem 0}
pre button{position:absolute;top:.4rem;right:.4rem;font-size:.75rem;padding:.1rem .5rem}
table{width:100%;border-collapse:collapse;font-size:.9rem}
td{border-top:1px solid var(--line);padding:.35rem .5rem .35rem 0;vertical-align:top}
td:first-child{white-space:nowrap;width:14rem}
.pill{display:inline-block;border:1px solid var(--line);border-radius:99px;padding:0 .55rem;font-size:.78rem;color:var(--muted);margin-right:.3rem}
[hidden]{display:none!important}
@media (max-width:48rem){.layout{grid-template-columns:1fr}nav{position:static;max-height:none;display:flex;flex-wrap:wrap;gap:.25rem;padding-bottom:0}td:first-child{width:auto}}
@media (prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}}
`;
