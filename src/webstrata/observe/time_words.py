"""Words for dates and times in the languages of common sites, and patterns of dates, times and ages built from them.

An age is a time relative to the visit: "3 hours ago", "gestern", "il y a 2 jours", "5 days left". Words that are common
in another meaning (`hier`, `so`, `do`, `mar`) are left out: a missed date is told as a change, which does no harm.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_MONTHS = """
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    januar februar märz mai juni juli oktober dezember jänner dez okt mrz
    janvier février mars avril juin juillet août septembre octobre novembre décembre janv févr juil déc
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
    janeiro fevereiro março maio junho julho setembro outubro novembro dezembro
    januari februari maart mei augustus
    stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia
    maj augusti marts oktober desember
    tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta
    marraskuuta joulukuuta
    ledna února března dubna května června července srpna září října listopadu prosince
    ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
    января февраля марта апреля мая июня июля августа сентября октября ноября декабря
    січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня
"""
_WEEKDAYS = """
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thurs fri sat sun
    montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag
    lundi mardi mercredi jeudi vendredi samedi dimanche
    lunes martes miércoles jueves viernes sábado domingo
    lunedì martedì mercoledì giovedì venerdì sabato domenica
    segunda-feira terça-feira quarta-feira quinta-feira sexta-feira
    maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
    poniedziałek wtorek środa czwartek piątek niedziela
    måndag tisdag onsdag torsdag fredag lördag söndag mandag tirsdag lørdag søndag
    maanantai tiistai keskiviikko torstai perjantai lauantai sunnuntai
    pondělí úterý středa čtvrtek pátek sobota neděle
    pazartesi salı çarşamba perşembe cuma cumartesi pazar
    понедельник вторник среда четверг пятница суббота воскресенье понеділок вівторок середа четвер субота неділя
"""
MONTHS = frozenset(_MONTHS.split())
_DATE_WORD = re.compile(r"[^\W\d_]+(?:-feira)?")
DATE_WORDS = MONTHS | frozenset(_WEEKDAYS.split())

_UNIT_WORDS = """
    s sec secs second seconds min mins minute minutes h hr hrs hour hours d day days w wk wks week weeks mo month months
    y yr yrs year years
    sekunde sekunden minuten stunde stunden std tag tage tagen woche wochen monat monate monaten jahr jahre jahren
    seconde secondes heure heures jour jours j semaine semaines mois an ans année années
    segundo segundos minuto minutos hora horas día días dia dias semana semanas mes meses mês año años ano anos
    secondo secondi minuti ora ore giorno giorni settimana settimane mese mesi anno anni
    seconden minuut uur uren dag dagen weken maand maanden jaar jaren
    sekund sekundy sekundę minut minuty minutę godzin godziny godzinę dni dzień tydzień tygodni tygodnie miesiąc
    miesiące miesięcy lat lata rok
    sekunder minuter timme timmar time timer dagar dage dager vecka veckor uke uker uge uger månad månader måned måneder
    år sekunti sekuntia minuutti minuuttia tunti tuntia päivä päivää viikko viikkoa kuukausi kuukautta vuosi vuotta
    sekundami minutami minutou hodin hodinami hodinou dny dnem týdny týdnem měsíci měsícem roky rokem lety
    saniye dakika saat gün hafta ay yıl
    секунд секунды секунду минут минуты минуту час часа часов день дня дней недель недели неделю месяц месяца месяцев
    год года лет хвилин хвилини хвилину годин години годину дні днів тижні тижнів місяць місяці місяців рік роки років
"""
_UNITS = frozenset(_UNIT_WORDS.split())
_AFTER = r"(?:ago|fa|geleden|temu|sedan|siden|sitten|önce|назад|тому|atrás|left|remaining|to go)\b"
_PREFIXES = (
    "vor ",
    "noch ",
    "hace ",
    "há ",
    "před ",
    "för ",
    "for ",
    "in ",
    "dans ",
    "za ",
    "через ",
    "منذ ",
    "il y a ",
)
_MAX_PREFIX = max(map(len, _PREFIXES))
_UNIT = r"[^\W\d_]{1,12}"
_CJK_AGE = "(?:秒|分钟?|分鐘|時間|小时|小時|日|天|週間|周|週|か月|ヶ月|个月|個月|年)前|(?:초|분|시간|일|주|개월|년) ?전"
_NUMBERED_AGE = re.compile(
    rf"[0-9](?<![0-9.,:][0-9])[0-9]{{0,3}} ?(?:({_CJK_AGE})"
    rf"|{_UNIT}\b\.?(?:(?:,| [^\W\d_]{{1,3}})? ?[0-9]{{1,4}} ?{_UNIT}\b\.?){{0,3}}( {_AFTER})?)",
    re.IGNORECASE,
)
_UNIT_WITHOUT_SPACE = re.compile(r"[0-9][^\W\d_]")
_UNIT_AFTER_NUMBER = re.compile(rf"[0-9] ?({_UNIT})")
_AGE_PHRASE = re.compile(
    rf"\b(?:an?|one|a few|een|en|ett|bir|una?|un) {_UNIT}\b {_AFTER}"
    rf"|\b(?:vor (?:einer?|einem|wenigen)|il y a (?:une?|quelques)|hace (?:una?|unos|unas)|há uma?) {_UNIT}\b"
    r"|\b(?:just now|moments? ago|gerade eben|à l[’']instant|avant-hier|aujourd[’']hui|ahora mismo"
    r"|przed chwilą|i går|i dag)\b",
    re.IGNORECASE,
)
_IN_PHRASES = """
    ago now vor eben hace há instant avant aujourd mismo chwilą går geleden sedan siden önce atrás fa temu sitten
"""
_PHRASE_WORDS = frozenset(_IN_PHRASES.split())
"""One of these words is in every phrase, except `il y a` and `i dag`."""
_DAYS = """
    yesterday today vorgestern gestern heute anteayer ayer hoy ieri oggi ontem hoje gisteren vandaag zojuist wczoraj
    dzisiaj dziś igår idag eilen tänään včera dnes dün bugün вчера сегодня вчора сьогодні أمس اليوم
"""
_DAY_WORDS = frozenset(_DAYS.split())
"""Words that are ages by themselves."""
_CJK = re.compile("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_CJK_DAY = re.compile("昨日|今日|たった今|昨天|今天|刚刚|剛剛|어제|오늘|방금")
_WORD = re.compile(r"[^\W\d_]+")


_PUNCTUATION = dict.fromkeys(map(ord, ".,:;!?()[]{}\"'’‘“”„«»/|-–—·•<>=*+&%#@_\\\u00a0\u202f"), " ")


def lower_words(text: str) -> list[str]:
    """The words of a text in lower case, without punctuation; numbers are words too."""
    return text.lower().translate(_PUNCTUATION).split()


def without_ages(text: str, words: Collection[str], instead: str = " ") -> str:
    """The text with ages replaced. `words` are its words in lower case: they tell quickly that there is no age."""
    if not _PHRASE_WORDS.isdisjoint(words) or ("il" in words and "y" in words) or ("i" in words and "dag" in words):
        text = _AGE_PHRASE.sub(instead, text)
    if not _DAY_WORDS.isdisjoint(words):
        text = _WORD.sub(lambda match: instead if match[0].lower() in _DAY_WORDS else match[0], text)
    if not text.isascii() and _CJK.search(text):
        text = _CJK_DAY.sub(instead, text)
    elif _UNITS.isdisjoint(words) and not _UNIT_WITHOUT_SPACE.search(text):
        return text
    return _NUMBERED_AGE.sub(lambda match: instead if _is_age(match) else match[0], text)


def _is_age(match: re.Match[str]) -> bool:
    if match[1]:
        return True
    if any(unit.lower() not in _UNITS for unit in _UNIT_AFTER_NUMBER.findall(match[0])):
        return False
    before = match.string[max(0, match.start() - _MAX_PREFIX) : match.start()]
    return bool(match[2]) or before.lower().endswith(_PREFIXES)


def with_dates_masked(text: str, words: Collection[str]) -> str:
    """The text with `@` for the names of months and weekdays. `words` are its words in lower case."""
    if DATE_WORDS.isdisjoint(words):
        return text
    return _DATE_WORD.sub(lambda match: "@" if match[0].lower() in DATE_WORDS else match[0], text)


_TIME = re.compile(
    r"[0-9](?<![0-9:.,/-][0-9])(?:"
    r"[0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9:.]{4,18}(?:Z|[+-][0-9]{2}:?[0-9]{2})?"
    r"|[0-9]{3}[-/.][0-9]{1,2}[-/.][0-9]{1,2}(?![0-9/-])"
    r"|[0-9]?[./-][0-9]{1,2}[./-](?:[0-9]{4}|[0-9]{2})(?![0-9/-])"
    r"|[0-9]?:[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]{1,9})?)?(?![0-9:])(?: ?[ap]\.?m\b\.?)?"
    r"|[0-9]? ?(?:[ap]\.?m\b\.?|Uhr\b)|[0-9]?h[0-5][0-9]\b"
    r"|(?<=1)[5-9][0-9]{8}(?:[0-9]{3})?(?![0-9.,])"
    r"|[0-9]{1,3}年(?: ?[0-9]{1,2}月)?(?: ?[0-9]{1,2}日)?|[0-9]?月 ?[0-9]{1,2}日|[0-9]?[時时点][0-9]{1,2}分"
    r"|[0-9]{3}년(?: ?[0-9]{1,2}월)?(?: ?[0-9]{1,2}일)?|[0-9]?월 ?[0-9]{1,2}일)",
    re.IGNORECASE,
)
"""Dates and times of day in digits, seconds since 1970. It begins with a digit, so that a search skips other text."""
_COPYRIGHT = re.compile(r"(?:©|\(c\)|copyright)[^0-9\n]{0,12}[0-9]{4}(?: ?[-–] ?[0-9]{4})?", re.IGNORECASE)
_DAY_MONTH = re.compile(
    r"[0-9](?<![0-9.,][0-9])[0-9]?(?:st|nd|rd|th|er|\.|º)?(?: de| of)? ([^\W\d_]{2,14})\b\.?(?:,? (?:de )?[0-9]{4}\b)?",
    re.IGNORECASE,
)
_MONTH_DAY = re.compile(
    r"([^\W\d_]+)\.?,? (?:de )?(?:[0-9]{4}\b|[0-9]{1,2}(?:st|nd|rd|th)?\b(?:,? [0-9]{4}\b)?)", re.IGNORECASE
)
_TOKEN = re.compile(r"[A-Za-z0-9+/_=-]{7,}")
_LONG_NUMBER = 13
_LONG_TOKEN = 20


def without_times(text: str, words: Collection[str]) -> str:
    """The text without dates, times, tokens and years of a copyright. `words` are its words in lower case."""
    if not MONTHS.isdisjoint(words):
        text = _MONTH_DAY.sub(_without_month, _DAY_MONTH.sub(_without_month, text))
    if "©" in text or "copyright" in words or "c" in words:
        text = _COPYRIGHT.sub(" ", text)
    return _TOKEN.sub(_without_token, _TIME.sub(" ", text))


def _without_month(match: re.Match[str]) -> str:
    return " " if match[1].lower() in MONTHS else match[0]


def _without_token(match: re.Match[str]) -> str:
    """Session ids and hashes: letters mixed with digits, or more digits than a figure has."""
    token = match[0]
    if token.isdigit():
        return " " if len(token) >= _LONG_NUMBER else token
    if token.isalpha() and len(token) < _LONG_TOKEN:
        return token
    has_digit, has_letter = any(map(str.isdigit, token)), any(map(str.isalpha, token))
    return " " if has_letter and (has_digit or len(token) >= _LONG_TOKEN) else token
