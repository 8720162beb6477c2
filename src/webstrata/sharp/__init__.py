"""A site's pages and their change rates -> the order of visits and revisits around one instant, and its proof. Pure.

Every page is visited and later revisited. A page that did not change in between is sharp as of any instant after its
visit and before its revisit. The schedules try to make as many pages as possible sharp as of one common instant:

    solar       the published algorithms: Hottest-middle, SHARC-threshold and SOLAR, offline and online
    optimal     the best schedule of known pages and the best revisits after given visits, each with an upper bound
    passes      the same where downloads take different times, and further passes over the pages of a capture
    online      visits of a site whose pages are found by links: the scheduler of a live capture
    proof/      verdicts, certificate, signature, time stamp, and the coherence of any collection

Rates come from forecasts, or from the priors in `rates.py` for pages without history. `schedule.py` converts rates to
confidence intervals; `rhythm.py` finds the quietest period of a site's week.
"""
