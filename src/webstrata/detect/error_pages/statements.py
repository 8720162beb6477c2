"""Titles and headings that state an error: `statement` looks a whole title, a part of it or a line up in a table.

The table has each statement without punctuation, status codes and words such as "sorry" or "error". Only a title or a
line that consists of the statement counts, so that a page about an error is not taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Set
from typing import NamedTuple

from webstrata.records import FailureKind


class ErrorStatement(NamedTuple):
    """What a title or a line states, and how much that counts (1 or 2)."""

    kind: FailureKind
    weight: int
    words: str


_NOT_FOUND = """
page not found|page was not found|the page was not found|page cannot be found|page could not be found
page can t be found|page does not exist|page doesn t exist|this page does not exist|this page doesn t exist
this page could not be found|this page cannot be found|this page isn t available|page unavailable|page missing
the requested url was not found|requested url was not found|url not found|resource not found|document not found
file not found|site not found|content not found|page no longer exists|we can t find that page|page introuvable
we can t find the page you re looking for|we couldn t find that page|nothing found|post not found
article not found|seite nicht gefunden|seite wurde nicht gefunden|die seite wurde nicht gefunden
seite existiert nicht|diese seite existiert nicht|inhalt nicht gefunden|page non trouvée|page inexistante
contenu introuvable|cette page n existe pas|cette page n existe plus|página no encontrada|pagina no encontrada
no se encuentra la página|no se ha encontrado la página|esta página no existe|la página no existe
pagina non trovata|pagina inesistente|questa pagina non esiste|página não encontrada|pagina nao encontrada
página inexistente|esta página não existe|pagina niet gevonden|deze pagina bestaat niet|nie znaleziono strony
strona nie istnieje|strony nie znaleziono|nie ma takiej strony|strona nie została znaleziona|страница не найдена
такой страницы не существует|страница не существует|страницы не существует|сторінку не знайдено
сторінка не знайдена|такої сторінки не існує|ページが見つかりません|お探しのページが見つかりません
お探しのページは見つかりませんでした|ページが存在しません|页面不存在|页面未找到|找不到页面|您访问的页面不存在
抱歉 您访问的页面不存在|找不到網頁|頁面不存在|页面找不到了|페이지를 찾을 수 없습니다|존재하지 않는 페이지입니다
요청하신 페이지를 찾을 수 없습니다|sayfa bulunamadı|aradığınız sayfa bulunamadı|böyle bir sayfa yok
sidan hittades inte|sidan kunde inte hittas|sidan finns inte|siden blev ikke fundet|siden findes ikke
siden ble ikke funnet|fant ikke siden|siden finnes ikke|sivua ei löydy|sivua ei löytynyt|stránka nenalezena
stránka nebyla nalezena|stránka neexistuje|stránka sa nenašla|az oldal nem található
a keresett oldal nem található|pagina nu a fost găsită|pagina nu a fost gasita|η σελίδα δεν βρέθηκε
страницата не е намерена|stranica nije pronađena|الصفحة غير موجودة|لم يتم العثور على الصفحة|הדף לא נמצא
העמוד לא נמצא|صفحه پیدا نشد|पृष्ठ नहीं मिला|ไม่พบหน้าที่คุณต้องการ|ไม่พบหน้านี้|halaman tidak ditemukan
không tìm thấy trang|trang không tồn tại|backend not found
"""
_NOT_FOUND_WEAK = "not found|introuvable|nicht gefunden|gone|no encontrado|non trouvé|不存在|未找到"
_OUTAGE = """
internal server error|server error|bad gateway|gateway timeout|gateway time out|service unavailable
application error|service temporarily unavailable|site under maintenance|website under maintenance
under maintenance|we are under maintenance|site is under maintenance|maintenance mode|we ll be back soon
we will be back soon|be right back|we ll be right back|temporarily unavailable|site temporarily unavailable
database error|internal error|runtime error|backend fetch failed|error establishing a database connection
there has been an error processing your request|an error occurred|an error occurred internal server error
something went wrong|account suspended|this account has been suspended|default web site page|web server is down
connection timed out|site suspended|website suspended|web server is returning an unknown
we re down for maintenance|down for maintenance|closed for maintenance|scheduled maintenance|site offline
website in wartung|seite in wartung|wartungsarbeiten|wartungsmodus|wir sind bald zurück|interner serverfehler
vorübergehend nicht erreichbar|interner fehler|site en maintenance|en maintenance|erreur interne du serveur
service indisponible|site momentanément indisponible|sitio en mantenimiento|en mantenimiento
error interno del servidor|servicio no disponible|sito in manutenzione|in manutenzione|errore interno del server
site em manutenção|em manutenção|erro interno do servidor|onderhoud|in onderhoud|website in onderhoud
przerwa techniczna|wewnętrzny błąd serwera|технические работы|сайт на техническом обслуживании
на сайте ведутся технические работы|внутренняя ошибка сервера|технічні роботи|メンテナンス中
ただいまメンテナンス中です|メンテナンスのお知らせ|サーバーエラー|网站维护中|系统维护中|服务器内部错误
점검 중입니다|시스템 점검 중입니다|bakım modu|site bakımda|bakım çalışması|underhåll|under vedligeholdelse
údržba|probíhá údržba|the website is under construction|this website is for sale|this domain is for sale
domain for sale|diese domain steht zum verkauf|ce domaine est à vendre|este dominio está en venta
"""
_OUTAGE_WEAK = "maintenance|coming soon|under construction|wartung|unavailable|default page"
_BLOCKED = """
access denied|access forbidden|access blocked|access restricted|request blocked|request rejected
the request is blocked|request forbidden|too many requests|rate limit exceeded|rate limited
you have been blocked|sorry you have been blocked|your access to this site has been limited by the site owner
verify you are human|security verification|security check|not acceptable|permission denied|bot detected
unusual traffic detected|zugriff verweigert|zugriff gesperrt|zugriff blockiert|sicherheitsprüfung
zu viele anfragen|zugriffsprüfung|accès refusé|accès interdit|vérification de sécurité|trop de requêtes
acceso denegado|comprobación de seguridad|acceso bloqueado|accesso negato|accesso bloccato|acesso negado
acesso bloqueado|verificação de segurança|toegang geweigerd|toegang geblokkeerd|dostęp zablokowany
odmowa dostępu|brak dostępu|доступ запрещен|доступ запрещён|доступ ограничен|вы не робот
アクセスが拒否されました|アクセスできません|安全验证|访问被拒绝|访问验证|验证码拦截|접근이 거부되었습니다
erişim engellendi|åtkomst nekad|adgang nægtet|přístup odepřen|تم رفض الوصول|you are now in line
"""
_BLOCKED_WEAK = (
    "are you human|are you a robot|are you a human|robot check|captcha|forbidden|verification|one more step|blocked"
    "|unauthorized"
)
_SIGN_IN = """
log in|login|sign in|signin|log in to continue|sign in to continue|sign in to your account
log in to your account|login required|log in required|authentication required|authorization required
please log in|please sign in|member login|members login|user login|web login service|account login|welcome back
you must log in|you must be logged in|please log in to continue|please sign in to continue|sign in or register
log in or sign up|login or register|members only|user sign in|site login|anmelden|anmeldung|einloggen
login erforderlich|anmeldung erforderlich|anmelden erforderlich|bitte anmelden|bitte einloggen|mitgliederbereich
mitglieder login|benutzeranmeldung|connexion|se connecter|identification|authentification|connexion requise
authentification requise|connectez vous|identifiez vous|service central d authentification|iniciar sesión
inicio de sesión|acceder|entrar|identifícate|se requiere iniciar sesión
es necesario iniciar sesión|inicia sesión|acceso|acceso de usuarios
accedi|accesso|login richiesto|autenticazione|accesso richiesto|effettua l accesso|acessar|fazer login
iniciar sessão|login necessário|inloggen|aanmelden|inloggen vereist|aanmelden vereist|zaloguj się|logowanie
zaloguj|wymagane logowanie|войти|вход|авторизация|вход в систему|требуется авторизация|необходимо войти|увійти
вхід|ログイン|サインイン|ログインしてください|ログインが必要です|登录|用户登录|登錄|登入|请登录|需要登录|로그인
로그인이 필요합니다|giriş yap|giriş|oturum aç|oturum açın|logga in|inloggning|log ind|logg inn|kirjaudu sisään
kirjaudu|přihlášení|přihlásit se|přihlásit|prihlásenie|bejelentkezés|autentificare|conectare|σύνδεση|prijava
تسجيل الدخول|ادخل|دخول|התחברות|کاربر ورود|masuk|đăng nhập|เข้าสู่ระบบ|select your home organisation
this content is password protected|protected page|password protected
"""
_SIGN_IN_WEAK = "authentication|register|sign up|protected"


def _table() -> dict[str, tuple[FailureKind, int]]:
    """Statement -> kind and weight."""
    groups = (
        (FailureKind.SOFT_404, _NOT_FOUND, _NOT_FOUND_WEAK),
        (FailureKind.PLACEHOLDER, _OUTAGE, _OUTAGE_WEAK),
        (FailureKind.BLOCK_PAGE, _BLOCKED, _BLOCKED_WEAK),
        (FailureKind.LOGIN_WALL, _SIGN_IN, _SIGN_IN_WEAK),
    )
    weak = {words: (kind, 1) for kind, _, listed in groups for words in listed.split("|")}
    strong = {words: (kind, 2) for kind, listed, _ in groups for words in listed.strip().replace("\n", "|").split("|")}
    return weak | strong


_STATEMENTS = _table()
_FILLERS = frozenset(
    """
    oops ups uups oups hoppla sorry pardon désolé lo sentimos leider entschuldigung siamo spiacenti the we are
    http status code detailed iis 10 0 error erreur fehler errore erro fout błąd ошибка hata fel fejl chyba
    エラー 错误 오류
    """.split()  # noqa: SIM905 - a list of these words has one line for each
)
"""Words at the beginning or end of a statement that do not change what it says."""
_BY_STATUS = {
    **dict.fromkeys(("404", "410"), FailureKind.SOFT_404),
    **dict.fromkeys(("403", "429", "1020"), FailureKind.BLOCK_PAGE),
    **dict.fromkeys(("500", "502", "503", "504", "521", "522", "523", "525"), FailureKind.PLACEHOLDER),
    "401": FailureKind.LOGIN_WALL,
}
_AROUND = _FILLERS | _BY_STATUS.keys()
_VOCABULARY = _AROUND.union(*(words.split() for words in _STATEMENTS))
"""All words of statements: nearly all other titles and lines have another word."""
_WORD = re.compile(r"[^\W_]+")
_SEPARATOR = re.compile(r"\s+[|‹›«»·•:–—-]+\s+|[|•]|:\s|\s\(|\)")
_MAX_STATEMENT = 120
"""Characters."""


def statement(line: str) -> ErrorStatement | None:
    """What a line states if it consists of nothing else; None for other lines."""
    if not 0 < len(line) <= _MAX_STATEMENT:
        return None
    words = _WORD.findall(line.casefold())
    if not _VOCABULARY.issuperset(words):
        return None
    status = next((word for word in words if word in _BY_STATUS), None)
    for kept in (words, *_shortened(words)):
        found = _STATEMENTS.get(" ".join(kept))
        if found is not None:
            kind, weight = found
            return ErrorStatement(kind, weight if status is None else 2, line)
    if status is None or _shortened(words)[-1]:
        return None
    return ErrorStatement(_BY_STATUS[status], 2 if len(words) > 1 else 1, line)


def _shortened(words: list[str]) -> tuple[list[str], list[str], list[str]]:
    """The words without status codes at their ends, without other words at their beginning, and without both."""
    coded = _without(words, _BY_STATUS.keys(), _BY_STATUS.keys())
    return coded, _without(words, _AROUND, _BY_STATUS.keys()), _without(words, _AROUND, _AROUND)


def _without(words: list[str], before: Set[str], after: Set[str]) -> list[str]:
    first, end = 0, len(words)
    while first < end and words[first] in before:
        first += 1
    while end > first and words[end - 1] in after:
        end -= 1
    return words[first:end]


def title_statement(title: str) -> ErrorStatement | None:
    """What a title, or one of its parts between separators, states; the one that counts most."""
    found = [statement(title)]
    found += [statement(part.strip()) for part in _SEPARATOR.split(title[:300]) if part]
    return max(filter(None, found), key=lambda one: one.weight, default=None)
