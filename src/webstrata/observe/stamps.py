"""Recognises stamps: lines that only say when or from what a page was made, such as "Last updated 3 May 2026".

A stamp is a short line with a word for updating, generating or copyright and a date, a number or a token. A page of
which only a stamp differs was built again; nobody wants to be told. Other words in a stamp still count.
"""

from __future__ import annotations

import re

MAX_STAMP_WORDS = 14

_WORDS = re.compile(
    r"\b(?:(?:last |page |site |recently )*(?:updated|modified|changed|revised|edited|generated|rendered|compiled"
    r"|rebuilt|refreshed|retrieved)\b|last (?:update|modification|change|revision|build|refresh|edit)|last-modified"
    r"|date of (?:last )?(?:update|revision)|build (?:date|time|id|number)|built (?:on|at|with|from|by)|code version"
    r"|git (?:commit|revision|sha|hash)|commit(?: id| hash)?:|revision:|as of:?$|copyright"
    r"|zuletzt (?:geändert|aktualisiert|bearbeitet)|letzte (?:änderung|aktualisierung|bearbeitung)|aktualisiert am"
    r"|stand:|mise? à jour|dernière (?:modification|mise à jour)|modifié le|généré le"
    r"|última (?:actualización|modificación|atualização|alteração)|actualizado el|atualizado em|modificado el"
    r"|ultim[oa] (?:aggiornamento|modifica)|aggiornato (?:il|al)|laatst (?:bijgewerkt|gewijzigd)|bijgewerkt op"
    r"|ostatnia (?:aktualizacja|modyfikacja)|zaktualizowano|senast (?:uppdaterad|ändrad)|sist (?:oppdatert|endret)"
    r"|sidst (?:opdateret|ændret)|viimeksi (?:päivitetty|muokattu)|poslední (?:aktualizace|změna)"
    r"|son güncelleme|последнее (?:обновление|изменение)|обновлено|останнє оновлення)"
    r"|©|\(c\) ?[0-9]{4}|最終更新|更新日|最后更新|最後更新|更新时间|更新時間|최종 수정|마지막 수정",
    re.IGNORECASE,
)
_PRICE = re.compile(r"[$€£¥₹₽%]|\b(?:EUR|USD|GBP|CHF|JPY|price|preis|prix|precio|prezzo|preço)\b", re.IGNORECASE)


def is_stamp(run: str, shape: str) -> bool:
    """Whether a run is a stamp; `shape` is the run with dates, numbers and tokens masked."""
    return (
        shape != run
        and run.count(" ") < MAX_STAMP_WORDS
        and _WORDS.search(run) is not None
        and _PRICE.search(run) is None
    )
