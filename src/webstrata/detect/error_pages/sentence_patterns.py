"""The sentences by which error pages address their readers, by language and kind of error."""

from __future__ import annotations

import re
from typing import NamedTuple

from webstrata.records import FailureKind


class ErrorSentence(NamedTuple):
    """A pattern, what it shows and how much it counts, and a word that each of its matches contains."""

    kind: FailureKind
    weight: int
    cue: str
    pattern: re.Pattern[str]


def _sentence(kind: FailureKind, weight: int, cues: str, pattern: str) -> list[ErrorSentence]:
    compiled = re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    return [ErrorSentence(kind, weight, cue, compiled) for cue in cues.split("|")]


_N, _X, _B, _L = (
    FailureKind.SOFT_404,
    FailureKind.PLACEHOLDER,
    FailureKind.BLOCK_PAGE,
    FailureKind.LOGIN_WALL,
)
_PAGE = r"(?:page|url|document|resource|file|path|address|topic|thread|site)"

SPACED = [
    *_sentence(
        _N,
        2,
        "found|find|retrieved",
        rf"\b(?:requested|this|the) {_PAGE}(?: [^.\n]{{0,80}})? (?:was not|wasn['’]t|cannot be|can['’]t be"
        r"|could ?n[o'’]t be) (?:found|located)",
    ),
    *_sentence(
        _N,
        2,
        "find",
        rf"\b(?:we )?(?:can ?no?['’]?t|could ?n['o’]t|did not|unable to) find (?:the|that|this) {_PAGE}",
    ),
    *_sentence(
        _N,
        2,
        "exist|exists",
        rf"\b(?:the|this|that|requested) (?:requested )?{_PAGE}(?: you[^.\n]{{0,60}})? (?:does ?n[o'’]t|no"
        r" longer) exists?",
    ),
    *_sentence(
        _N,
        2,
        "looking|requested",
        rf"\b{_PAGE} (?:that )?you(?:['’]re| are| were|['’]ve| have)? (?:looking for|requested"
        rf"|followed)[^.\n]{{0,60}}(?:not|moved|removed|deleted|unavailable|no longer)",
    ),
    *_sentence(_N, 2, "specified", r"\b(?:invalid|no) (?:thread|post|topic|forum|page|article) specified"),
    *_sentence(_N, 1, "notify", r"\bfollowed a valid link, please notify"),
    *_sentence(_N, 2, "matched|matches", r"\bno (?:handler|route) match(?:ed|es)\b"),
    *_sentence(_N, 2, "text", r"\bthere is currently no text in this page"),
    *_sentence(_N, 2, "followed", r"\bfollowed a broken link"),
    *_sentence(_N, 2, "isn", r"\bthere isn['’]t a [\w ]{1,30} (?:site|page) here"),
    *_sentence(_N, 2, "key", r"\bthe specified key does not exist"),
    *_sentence(
        _N,
        1,
        "moved|deleted|removed",
        rf"\b(?:it|{_PAGE}) (?:may|might|could) have (?:been )?(?:moved|deleted|removed)",
    ),
    *_sentence(
        _N,
        1,
        "home|homepage|search|spelling",
        r"\b(?:go|back|return)(?: to)?(?: the| our)? home ?(?:page)?\b|\btry (?:the|a|our) search\b"
        r"|\bcheck (?:your|the) spelling\b|\bsearch for this page\b",
    ),
    *_sentence(
        _N,
        2,
        "seite",
        r"seite[^.\n]{0,60} (?:existiert (?:leider )?nicht|(?:wurde|konnte)(?: leider)? nicht gefunden"
        r"|nicht gefunden werden|ist nicht (?:mehr )?vorhanden|gibt es nicht)",
    ),
    *_sentence(_N, 1, "startseite", r"zur(?:ück zur)? startseite"),
    *_sentence(
        _N,
        2,
        "page",
        r"\bpage[^.\n]{0,60} (?:n['’]existe (?:pas|plus)|est introuvable|n['’]a pas été trouvée|a été"
        r" (?:déplacée|supprimée))",
    ),
    *_sentence(_N, 1, "accueil", r"\b(?:retour à|page d['’])\s?l?['’]?accueil"),
    *_sentence(_N, 1, "oups|oops|ups|hoppla", r"^(?:oups|oops|ups|hoppla)\b"),
    *_sentence(
        _N,
        2,
        "página|pagina",
        r"\bp[áa]gina[^.\n]{0,60} (?:no (?:existe|se (?:ha )?encuentra|ha sido encontrada)|n[ãa]o"
        r" (?:existe|foi encontrada)|non (?:esiste|è stata trovata)|bestaat niet|is niet gevonden|nu"
        r" există)",
    ),
    *_sentence(
        _N,
        2,
        "strona|strony",
        r"\bstron[ay][^.\n]{0,60}(?:nie istnieje|nie została znaleziona|nie znaleziono)",
    ),
    *_sentence(
        _N,
        2,
        "страница|страницы|страницу|сторінки|сторінка",
        r"(?:страниц|сторінк)[аыуи][^.\n]{0,60}(?:не (?:существует|найдена|знайдена|існує)|была удалена|не"
        r" удалось найти)",
    ),
    *_sentence(_N, 2, "sayfa", r"\bsayfa[^.\n]{0,40}(?:mevcut değil|bulunamadı|kaldırıl)"),
    *_sentence(
        _N,
        2,
        "sidan|siden",
        r"\bside[n][^.\n]{0,40}(?:findes ikke|finnes ikke|blev ikke fundet|ble ikke funnet)"
        r"|\bsidan[^.\n]{0,40}(?:finns inte|hittades inte|kunde inte hittas)",
    ),
    *_sentence(
        _N,
        2,
        "stránka|stránku",
        r"\bstránk[au][^.\n]{0,40}(?:neexistuje|nebyla nalezena|nenalezena|se nepodařilo)",
    ),
    *_sentence(_N, 2, "الصفحة", r"الصفحة[^.\n]{0,60}(?:غير موجودة|لم يتم العثور)"),
    *_sentence(
        _X,
        2,
        "maintenance",
        r"\b(?:site|website|page|server|service|system|we(?:['’]re| are)?|shop)[^.\n]{0,40}\b(?:for|under"
        r"|undergoing) (?:scheduled |planned |routine )?maintenance|\bbriefly unavailable for scheduled"
        r" maintenance",
    ),
    *_sentence(
        _X,
        2,
        "unavailable",
        r"\b(?:site|website|page|server|service) is (?:temporarily|currently) unavailable|\btemporarily"
        r" unable to (?:service|handle)",
    ),
    *_sentence(
        _X,
        1,
        "later|back|minute|moment",
        r"\b(?:please )?(?:try again|check back|come back|retry)[^.\n]{0,20}(?:later|soon|in a (?:few"
        r" )?(?:minute|moment))|\bwe(?:['’]ll| will) be back",
    ),
    *_sentence(
        _X,
        2,
        "database|connection",
        r"\berror establishing a database connection|\bcould not connect to (?:mysql|the database"
        r"|database)|\b(?:database )?connection failed\b",
    ),
    *_sentence(_X, 3, "critical", r"\bthere has been a critical error on (?:this|your) website"),
    *_sentence(_X, 3, "kritischen", r"\bes gab einen kritischen fehler"),
    *_sentence(
        _X,
        2,
        "encountered|unexpected|internal",
        r"\bserver (?:has )?encountered an (?:internal|unexpected)|\ban unexpected error (?:has"
        r" )?occurr?ed|\binternal error has occurr?ed|\breturned a \"5\d\d",
    ),
    *_sentence(
        _X,
        2,
        "error",
        r"\berror processing your request|\ban application error occurred|\bexception printing is disabled",
    ),
    *_sentence(_X, 2, "broken|wrong", r"^(?:oops\W*)?something (?:is broken|went wrong)"),
    *_sentence(_X, 2, "load", r"\bwe could not load this page"),
    *_sentence(
        _X,
        2,
        "server|upstream",
        r"\bno server is available to handle|\binvalid response from an upstream|\bbackend fetch failed",
    ),
    *_sentence(_X, 2, "sale", r"\bdomain(?: name)? (?:is|may be) for sale|\bbuy this domain"),
    *_sentence(_X, 2, "verkauf|geparkt", r"\bdomain steht zum verkauf|\bdomain[^.\n]{0,60}geparkt"),
    *_sentence(_X, 2, "suspended", r"\b(?:account|website|site) has been suspended"),
    *_sentence(
        _X,
        2,
        "provider",
        r"\b(?:owner of this website|you are the owner)[^.\n]{0,60}contact your (?:hosting )?provider",
    ),
    *_sentence(_X, 1, "code", r"^code: \w{8,40}$"),
    *_sentence(_X, 2, "gewartet|wartung", r"\b(?:wird|werden)[^.\n]{0,40} gewartet|\bsind bald (?:wieder|zurück)"),
    *_sentence(
        _X,
        2,
        "momentanément|indisponible|maintenance",
        r"\bsite[^.\n]{0,40} (?:momentanément|temporairement) indisponible|\bsite est en maintenance",
    ),
    *_sentence(_X, 2, "mantenimiento|pronto", r"\bsitio[^.\n]{0,40}en mantenimiento|\bvolvemos pronto"),
    *_sentence(_X, 2, "manutenção|tarde", r"\bsite[^.\n]{0,40}em manutenção|\btente novamente mais tarde"),
    *_sentence(_X, 2, "работы|позже", r"на сайте[^.\n]{0,40}работы|зайдите позже|попробуйте позже"),
    *_sentence(
        _B,
        2,
        "blocked",
        r"\b(?:your (?:ip|ip address|request|access)|you) (?:has|have) been (?:temporarily )?blocked"
        r"|\b(?:the )?request (?:is|was|has been) blocked",
    ),
    *_sentence(
        _B,
        2,
        "permission|authorized|authorised",
        r"\byou (?:do ?n[o'’]t|do not) have permission to access|\bnot authori[sz]ed to (?:access|view)"
        r" this page",
    ),
    *_sentence(_B, 2, "rejected", r"\bthe requested url was rejected"),
    *_sentence(
        _B,
        2,
        "forbidden",
        r"\brequest forbidden by administrative rules|\baccess to this (?:resource"
        r"|page)[^.\n]{0,40}forbidden",
    ),
    *_sentence(_B, 2, "javascript", r"\benable javascript and cookies to continue"),
    *_sentence(
        _B,
        2,
        "checking|verifying",
        r"\bchecking (?:if the site connection is secure|your browser)|\bverifying (?:your browser|you are"
        r" human)",
    ),
    *_sentence(
        _B,
        2,
        "human|robot|bot|person",
        r"\b(?:verify|confirm|prove|sure|know)(?: that)? you(?:['’]re| are) (?:a |not a )?(?:human|real"
        r" person|robot|bot)|\bmade us think (?:that )?you (?:were|are) a bot",
    ),
    *_sentence(_B, 2, "hold", r"\bpress (?:&|and) hold to confirm"),
    *_sentence(_B, 2, "incident", r"\bincapsula incident id"),
    *_sentence(_B, 2, "unusual", r"\bunusual traffic from your computer network"),
    *_sentence(_B, 2, "ray", r"\bcloudflare ray id\W"),
    *_sentence(_B, 2, "reference", r"\bpermission to access .{1,300}reference #[0-9a-f.]+"),
    *_sentence(
        _B,
        2,
        "wordfence|mod_security|limited",
        r"\bgenerated by (?:wordfence|mod_security)|\baccess to this site has been limited",
    ),
    *_sentence(_B, 2, "requests", r"\b(?:sent|made|received) too many requests"),
    *_sentence(_B, 2, "zablokowany", r"adres ip został[^.\n]{0,20}zablokowany"),
    *_sentence(
        _B,
        2,
        "gesperrt|blockiert",
        r"\b(?:ihre?|deine?) (?:ip(?:-adresse)?|zugriff|anfrage)[^.\n]{0,30}(?:gesperrt|blockiert)",
    ),
    *_sentence(_B, 2, "браузера|робот", r"проверка браузера|подтвердите[^.\n]{0,60}робот"),
    *_sentence(_B, 2, "line", r"\byou are now in line"),
    *_sentence(
        _L,
        2,
        "logged|log|sign|signed|login|register",
        r"\b(?:you (?:must|need to|have to)|please|requires you to)(?: first)? (?:be )?(?:registered and"
        r" )?(?:logged[ -]?in|log ?in|sign(?:ed)? ?in)\b",
    ),
    *_sentence(_L, 2, "password|protected", r"\bthis content is password protected|\bpage is protected by a password"),
    *_sentence(
        _L,
        2,
        "melden|einloggen|anmelden",
        r"\bbitte melden sie sich an|\b(?:bitte|müssen sie sich|du musst dich)[^.\n]{0,30}(?:einloggen"
        r"|anmelden)",
    ),
    *_sentence(_L, 2, "connecter|identifier", r"\b(?:vous devez|veuillez)[^.\n]{0,20}(?:connecter|identifier)"),
    *_sentence(
        _L,
        2,
        "sesión|identificarte|acceder",
        r"\b(?:debe|debes|por favor|tienes que|necesita)[^.\n]{0,20}(?:iniciar sesión|inicia sesión"
        r"|identificar|acceder para)",
    ),
    *_sentence(
        _L,
        2,
        "accedere|accedi|effettuare|accesso",
        r"\b(?:devi|è necessario|per favore|occorre)[^.\n]{0,30}(?:acced|effettuare (?:l['’]accesso|il"
        r" login))",
    ),
    *_sentence(_L, 2, "zalogować", r"\bmusisz się zalogować"),
    *_sentence(_L, 2, "giriş", r"\bgiriş yapmalısınız"),
    *_sentence(
        _L,
        2,
        "inloggen|aanmelden|log",
        r"\b(?:u moet|je moet) (?:eerst )?(?:inloggen|aanmelden)\b|\blog eerst in\b",
    ),
    *_sentence(
        _L,
        2,
        "войти|авторизуйтесь|авторизоваться",
        r"(?:необходимо|нужно|пожалуйста)[^.\n]{0,20}(?:войти|авториз)",
    ),
]
"""Sentences of languages that separate words by spaces. Repetitions are bounded, so that each search is linear."""

UNSPACED = [
    *_sentence(_N, 2, "ページ", r"ページ(?:が|は)(?:見つかりません|存在しません|移動または削除)"),
    *_sentence(_N, 2, "页面", r"页面(?:不存在|可能已被|已被删除|未找到)"),
    *_sentence(_N, 2, "페이지", r"페이지[^.\n]{0,10}(?:찾을 수 없|존재하지 않)"),
    *_sentence(_X, 2, "メンテナンス", r"メンテナンス中"),
    *_sentence(_X, 1, "アクセス", r"しばらくしてから"),
    *_sentence(_X, 2, "维护", r"(?:网站|系统)[^.\n]{0,6}维护"),
    *_sentence(_B, 2, "验证", r"请完成[^.\n]{0,10}验证"),
    *_sentence(_L, 2, "ログイン", r"ログイン(?:してください|が必要)"),
    *_sentence(_L, 2, "登录", r"(?:请先?|需要)登录"),
    *_sentence(_L, 2, "로그인", r"로그인(?:이 필요|하세요|해 주세요|해주세요)"),
]
"""Sentences of languages that do not; the cue is searched in the text."""
