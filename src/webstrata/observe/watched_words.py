"""Words and units that say what a figure is, in the languages of the shipped sites and of common shops.

Each table is a list of whole words in lower case, without accents removed. German compounds are recognised by their
end. Chinese, Japanese and Korean, which have no spaces between words, are in `figures.py`.
"""

from __future__ import annotations

_WATCHED = """
    price prices priced cost costs fee fees fare fares stock stocks left available availability remaining sold rate
    rates score scores level levels cases deaths results result votes vote seats seat tickets ticket points goals goal
    rank ranking position index yield temperature humidity pressure capacity balance quantity qty inventory units
    vacancies places spots bid bids offer offers discount salary premium dividend quote quotes volume consumption
    concentration incidence infections patients turnout attendance magnitude amount
    preis preise kosten gebühr bestand lager lagernd vorrätig verfügbar übrig restplätze kurs kurse zins zinsen stand
    spielstand pegel wasserstand fälle tote todesfälle ergebnis ergebnisse stimmen plätze karten punkte tore rang
    platz temperatur luftfeuchtigkeit kapazität guthaben menge stück inzidenz gebot rabatt verbrauch auslastung
    prix coût frais dispo disponible disponibles restant restants restante restantes taux niveau cas décès résultat
    résultats voix sièges billets buts classement indice rendement température capacité solde quantité enchère remise
    precio precios coste tarifa existencias disponibilidad quedan queda tasa nivel casos muertes resultado resultados
    votos asientos entradas puntos goles puesto índice rendimiento temperatura capacidad saldo cantidad puja descuento
    prezzo prezzi costo tariffa disponibile disponibili disponibilità rimasti rimaste rimanenti tasso livello casi
    morti risultato risultati voti posti biglietti punti gol classifica rendimento capacità quantità offerta sconto
    preço preços custo estoque disponível disponíveis restam resta taxa nível mortes lugares bilhetes ingressos pontos
    gols posição capacidade quantidade lance desconto
    prijs prijzen kosten voorraad beschikbaar resterend koers stand niveau gevallen doden uitslag stemmen plaatsen
    kaarten punten doelpunten temperatuur capaciteit aantal bod korting
    cena ceny koszt dostępny dostępne dostępna zapas magazynie pozostało zostało kurs stopa poziom przypadki przypadków
    zgony zgonów wynik wyniki głosy głosów miejsca miejsc bilety biletów punkty punktów gole ranking temperatura
    pojemność saldo ilość sztuk oferta rabat
    pris priser kostnad lager tillgänglig tillgängliga kvar ränta nivå fall dödsfall resultat röster platser biljetter
    poäng mål rankning temperatur kapacitet saldo antal bud rabatt
    tilgængelig tilbage rente niveau tilfælde dødsfald stemmer pladser billetter point placering kapacitet beholdning
    tilgjengelig igjen tilfeller dødsfall plasser poeng plassering kapasitet beholdning
    hinta hinnat varastossa saatavilla jäljellä korko taso tapausta kuolemaa tulos tulokset ääntä paikkaa lippua
    pistettä maalia sijoitus lämpötila kapasiteetti saldo määrä tarjous alennus
    skladem dostupné dostupný zbývá sazba úroveň případů úmrtí výsledek výsledky hlasů míst vstupenek bodů gólů pořadí
    teplota kapacita zůstatek množství kusů nabídka sleva
    fiyat fiyatı stok stokta kalan mevcut oran oranı faiz seviye vaka ölüm sonuç sonuçlar oy koltuk bilet puan gol
    sıra endeks sıcaklık kapasite bakiye miktar adet teklif indirim
    цена цены стоимость наличии остаток осталось доступно курс ставка уровень случаев смертей результат результаты
    голосов мест билетов очков голов место индекс температура баланс количество скидка ціна наявності залишилось рівень
    випадків голосів місць квитків
    السعر سعر متوفر المتبقي درجة
"""
WATCHED_WORDS = frozenset(_WATCHED.split())
"""A figure in a run with one of these words is watched: prices, stocks, scores, levels."""
WATCHED_ENDINGS = ("preis", "preise", "bestand", "stand", "temperatur", "kosten", "kurs", "zins", "quote", "zahlen")
"""Ends of compounds (Verkaufspreis, Lagerbestand)."""

_STATES = """
    sold stock unavailable available closed open cancelled canceled
    ausverkauft lieferbar verfügbar vorrätig geschlossen geöffnet abgesagt épuisé rupture disponible indisponible fermé
    ouvert annulé agotado cerrado abierto cancelado esaurito disponibile chiuso aperto annullato esgotado disponível
    fechado aberto uitverkocht leverbaar gesloten geannuleerd wyprzedane niedostępny dostępny odwołane slutsåld slut
    inställt udsolgt utsolgt aflyst avlyst loppu peruttu vyprodáno zrušeno tükendi iptal распродано отменено закрыто
"""
STATE_WORDS = frozenset(_STATES.split())
"""Words for what can be had: a short run with one of them is watched, with or without a figure."""

_VIEWS = """
    views view viewed viewers viewing visits visit visitor visitors visited hits hit downloads download downloaded
    likes like liked shares shared comments comment replies reply online guests members followers subscribers
    retweets reactions clicks impressions reads readers plays watching people bots stars stargazers forks watchers
    aufrufe aufruf ansichten besucher besuche zugriffe klicks kommentare kommentar mitglieder gäste benutzer leser
    abonnenten vues vue visites visite visiteurs visiteur téléchargements commentaires commentaire partages membres
    invités connectés abonnés visitas visita visitantes vistas descargas comentarios comentario miembros conectados
    seguidores visualizzazioni visitatori visitatore scaricamenti commenti commento condivisioni utenti membri
    visualizações visitante comentários comentário baixados membros usuários weergaven weergave bezoeken bezoekers
    bezoeker reacties reactie leden volgers odsłon odsłony wyświetleń wyświetlenia odwiedzin komentarzy komentarze
    pobrań użytkowników visningar visning besökare besök nedladdningar kommentarer gillar följare visninger
    besøgende besøkende besøk nedlastinger katselukertaa katselua kävijää kävijä latausta kommenttia tykkäystä
    zobrazení návštěv návštěvníků stažení komentářů görüntülenme görüntüleme ziyaretçi ziyaret indirme yorum beğeni
    просмотров просмотра просмотр посетителей посещений скачиваний комментариев комментария подписчиков переглядів
    відвідувачів коментарів
"""
VIEW_WORDS = frozenset(_VIEWS.split())
"""A number near one of these words counts views, visitors, downloads or comments."""

_LOADED = """
    generated rendered executed loaded load loading rendering execution queries query took processed served built
    generiert erzeugt erstellt geladen ladezeit ausgeführt abfragen générée généré chargée exécutée généralement
    generada generado cargada generata generato caricata gerada carregada gegenereerd geladen wygenerowana załadowano
    genererad genererat vygenerováno oluşturuldu сгенерирована создана загружена
"""
LOAD_WORDS = frozenset(_LOADED.split())
"""With one of these words, seconds and megabytes say how the page was made."""

CURRENCY_SYMBOL = r"[€$£¥￥₹₽₺₩₴₪฿₫₦₱₿]"
_CODES = """
    COD EUR USD GBP JPY CHF AUD CAD CNY RMB INR SEK NOK DKK ISK PLN CZK HUF RON BGN TRY BRL MXN ARS CLP COP ZAR
    KRW RUB UAH SGD HKD TWD NZD THB IDR MYR PHP VND ILS AED SAR EGP BTC ETH XAU XAG
"""
CURRENCY_CODES = frozenset(_CODES.split())
_UNITS = """
    euro euros dollar dollars cent cents pound pounds pence franc francs franken ruble rubles kronor kroner korun zł
    złotych kč kr tl lei ft руб грн percent prozent million millions millionen billion billions mio mrd
    kg g mg µg lb lbs oz tonne tonnes ton tons tonnen km cm mm µm nm m mi miles ha acres hl ml cl l gal litre litres
    liter liters barrel barrels bbl kwh mwh gwh twh wh kw mw gw kva kv mah hz khz mhz ghz ppm ppb ppt hpa mbar bar
    psi pa db lux kb mb gb tb pb kib mib gib tib kbit mbit gbit kbps mbps gbps km/h m/s kmh mph kn kts bpm rpm kcal
    cal kj pcs pts stk szt ks шт km² m² m³ km2 m2 m3
"""
UNIT_WORDS = frozenset(_UNITS.split()) | frozenset(code.lower() for code in CURRENCY_CODES)
"""A number before one of these words is measured in it."""
