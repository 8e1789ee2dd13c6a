// Made by Scripts/public-suffixes. Rules of the public suffix list, <https://publicsuffix.org/list/>, version 20230209.2326.
// This Source Code Form is subject to the terms of the Mozilla Public License, v. 2.0. If a copy of the MPL was not
// distributed with this file, You can obtain one at https://mozilla.org/MPL/2.0/.

extension SuffixRules {
    /// Domains of registries.
    static let part2 = """
        academy.museum agriculture.museum air.museum airguard.museum alabama.museum alaska.museum amber.museum
        ambulance.museum american.museum americana.museum americanantiques.museum americanart.museum
        amsterdam.museum and.museum annefrank.museum anthro.museum anthropology.museum antiques.museum
        aquarium.museum arboretum.museum archaeological.museum archaeology.museum architecture.museum art.museum
        artanddesign.museum artcenter.museum artdeco.museum arteducation.museum artgallery.museum arts.museum
        artsandcrafts.museum asmatart.museum assassination.museum assisi.museum association.museum
        astronomy.museum atlanta.museum austin.museum australia.museum automotive.museum aviation.museum
        axis.museum badajoz.museum baghdad.museum bahn.museum bale.museum baltimore.museum barcelona.museum
        baseball.museum basel.museum baths.museum bauern.museum beauxarts.museum beeldengeluid.museum
        bellevue.museum bergbau.museum berkeley.museum berlin.museum bern.museum bible.museum bilbao.museum
        bill.museum birdart.museum birthplace.museum bonn.museum boston.museum botanical.museum
        botanicalgarden.museum botanicgarden.museum botany.museum brandywinevalley.museum brasil.museum
        bristol.museum british.museum britishcolumbia.museum broadcast.museum brunel.museum brussel.museum
        brussels.museum bruxelles.museum building.museum burghof.museum bus.museum bushey.museum cadaques.museum
        california.museum cambridge.museum can.museum canada.museum capebreton.museum carrier.museum
        cartoonart.museum casadelamoneda.museum castle.museum castres.museum celtic.museum center.museum
        chattanooga.museum cheltenham.museum chesapeakebay.museum chicago.museum children.museum
        childrens.museum childrensgarden.museum chiropractic.museum chocolate.museum christiansburg.museum
        cincinnati.museum cinema.museum circus.museum civilisation.museum civilization.museum civilwar.museum
        clinton.museum clock.museum coal.museum coastaldefence.museum cody.museum coldwar.museum
        collection.museum colonialwilliamsburg.museum coloradoplateau.museum columbia.museum columbus.museum
        communication.museum communications.museum community.museum computer.museum computerhistory.museum
        comunicações.museum contemporary.museum contemporaryart.museum convent.museum copenhagen.museum
        corporation.museum correios-e-telecomunicações.museum corvette.museum costume.museum
        countryestate.museum county.museum crafts.museum cranbrook.museum creation.museum cultural.museum
        culturalcenter.museum culture.museum cyber.museum cymru.museum dali.museum dallas.museum database.museum
        ddr.museum decorativearts.museum delaware.museum delmenhorst.museum denmark.museum depot.museum
        design.museum detroit.museum dinosaur.museum discovery.museum dolls.museum donostia.museum durham.museum
        eastafrica.museum eastcoast.museum education.museum educational.museum egyptian.museum eisenbahn.museum
        elburg.museum elvendrell.museum embroidery.museum encyclopedic.museum england.museum entomology.museum
        environment.museum environmentalconservation.museum epilepsy.museum essex.museum estate.museum
        ethnology.museum exeter.museum exhibition.museum family.museum farm.museum farmequipment.museum
        farmers.museum farmstead.museum field.museum figueres.museum filatelia.museum film.museum fineart.museum
        finearts.museum finland.museum flanders.museum florida.museum force.museum fortmissoula.museum
        fortworth.museum foundation.museum francaise.museum frankfurt.museum franziskaner.museum
        freemasonry.museum freiburg.museum fribourg.museum frog.museum fundacio.museum furniture.museum
        gallery.museum garden.museum gateway.museum geelvinck.museum gemological.museum geology.museum
        georgia.museum giessen.museum glas.museum glass.museum gorge.museum grandrapids.museum graz.museum
        guernsey.museum halloffame.museum hamburg.museum handson.museum harvestcelebration.museum hawaii.museum
        health.museum heimatunduhren.museum hellas.museum helsinki.museum hembygdsforbund.museum heritage.museum
        histoire.museum historical.museum historicalsociety.museum historichouses.museum historisch.museum
        historisches.museum history.museum historyofscience.museum horology.museum house.museum
        humanities.museum illustration.museum imageandsound.museum indian.museum indiana.museum
        indianapolis.museum indianmarket.museum intelligence.museum interactive.museum iraq.museum iron.museum
        isleofman.museum jamison.museum jefferson.museum jerusalem.museum jewelry.museum jewish.museum
        jewishart.museum jfk.museum journalism.museum judaica.museum judygarland.museum juedisches.museum
        juif.museum karate.museum karikatur.museum kids.museum koebenhavn.museum koeln.museum kunst.museum
        kunstsammlung.museum kunstunddesign.museum labor.museum labour.museum lajolla.museum lancashire.museum
        landes.museum lans.museum läns.museum larsson.museum lewismiller.museum lincoln.museum linz.museum
        living.museum livinghistory.museum localhistory.museum london.museum losangeles.museum louvre.museum
        loyalist.museum lucerne.museum luxembourg.museum luzern.museum mad.museum madrid.museum mallorca.museum
        manchester.museum mansion.museum mansions.museum manx.museum marburg.museum maritime.museum
        maritimo.museum maryland.museum marylhurst.museum media.museum medical.museum medizinhistorisches.museum
        meeres.museum memorial.museum mesaverde.museum michigan.museum midatlantic.museum military.museum
        mill.museum miners.museum mining.museum minnesota.museum missile.museum missoula.museum modern.museum
        moma.museum money.museum monmouth.museum monticello.museum montreal.museum moscow.museum
        motorcycle.museum muenchen.museum muenster.museum mulhouse.museum muncie.museum museet.museum
        museumcenter.museum museumvereniging.museum music.museum national.museum nationalfirearms.museum
        nationalheritage.museum nativeamerican.museum naturalhistory.museum naturalhistorymuseum.museum
        naturalsciences.museum nature.museum naturhistorisches.museum natuurwetenschappen.museum naumburg.museum
        naval.museum nebraska.museum neues.museum newhampshire.museum newjersey.museum newmexico.museum
        newport.museum newspaper.museum newyork.museum niepce.museum norfolk.museum north.museum nrw.museum
        nyc.museum nyny.museum oceanographic.museum oceanographique.museum omaha.museum online.museum
        ontario.museum openair.museum oregon.museum oregontrail.museum otago.museum oxford.museum pacific.museum
        paderborn.museum palace.museum paleo.museum palmsprings.museum panama.museum paris.museum
        pasadena.museum pharmacy.museum philadelphia.museum philadelphiaarea.museum philately.museum
        phoenix.museum photography.museum pilots.museum pittsburgh.museum planetarium.museum plantation.museum
        plants.museum plaza.museum portal.museum portland.museum portlligat.museum
        posts-and-telecommunications.museum preservation.museum presidio.museum press.museum project.museum
        public.museum pubol.museum quebec.museum railroad.museum railway.museum research.museum
        resistance.museum riodejaneiro.museum rochester.museum rockart.museum roma.museum russia.museum
        saintlouis.museum salem.museum salvadordali.museum salzburg.museum sandiego.museum sanfrancisco.museum
        santabarbara.museum santacruz.museum santafe.museum saskatchewan.museum satx.museum savannahga.museum
        schlesisches.museum schoenbrunn.museum schokoladen.museum school.museum schweiz.museum science.museum
        scienceandhistory.museum scienceandindustry.museum sciencecenter.museum sciencecenters.museum
        science-fiction.museum sciencehistory.museum sciences.museum sciencesnaturelles.museum scotland.museum
        seaport.museum settlement.museum settlers.museum shell.museum sherbrooke.museum sibenik.museum
        silk.museum ski.museum skole.museum society.museum sologne.museum soundandvision.museum
        southcarolina.museum southwest.museum space.museum spy.museum square.museum stadt.museum stalbans.museum
        starnberg.museum state.museum stateofdelaware.museum station.museum steam.museum steiermark.museum
        stjohn.museum stockholm.museum stpetersburg.museum stuttgart.museum suisse.museum surgeonshall.museum
        surrey.museum svizzera.museum sweden.museum sydney.museum tank.museum tcm.museum technology.museum
        telekommunikation.museum television.museum texas.museum textile.museum theater.museum time.museum
        timekeeping.museum topology.museum torino.museum touch.museum town.museum transport.museum tree.museum
        trolley.museum trust.museum trustee.museum uhren.museum ulm.museum undersea.museum university.museum
        usa.museum usantiques.museum usarts.museum uscountryestate.museum usculture.museum
        usdecorativearts.museum usgarden.museum ushistory.museum ushuaia.museum uslivinghistory.museum
        utah.museum uvic.museum valley.museum vantaa.museum versailles.museum viking.museum village.museum
        virginia.museum virtual.museum virtuel.museum vlaanderen.museum volkenkunde.museum wales.museum
        wallonie.museum war.museum washingtondc.museum watchandclock.museum watch-and-clock.museum
        western.museum westfalen.museum whaling.museum wildlife.museum williamsburg.museum windmill.museum
        workshop.museum york.museum yorkshire.museum yosemite.museum youth.museum zoological.museum
        zoology.museum ירושלים.museum иком.museum mv aero.mv biz.mv com.mv coop.mv edu.mv gov.mv info.mv int.mv
        mil.mv museum.mv name.mv net.mv org.mv pro.mv mw ac.mw biz.mw co.mw com.mw coop.mw edu.mw gov.mw int.mw
        museum.mw net.mw org.mw mx com.mx org.mx gob.mx edu.mx net.mx my biz.my com.my edu.my gov.my mil.my
        name.my net.my org.my mz ac.mz adv.mz co.mz edu.mz gov.mz mil.mz net.mz org.mz na info.na pro.na name.na
        school.na or.na dr.na us.na mx.na ca.na in.na cc.na tv.na ws.na mobi.na co.na com.na org.na name nc
        asso.nc nom.nc ne net nf com.nf net.nf per.nf rec.nf web.nf arts.nf firm.nf info.nf other.nf store.nf ng
        com.ng edu.ng gov.ng i.ng mil.ng mobi.ng name.ng net.ng org.ng sch.ng ni ac.ni biz.ni co.ni com.ni
        edu.ni gob.ni in.ni info.ni int.ni mil.ni net.ni nom.ni org.ni web.ni nl no fhs.no vgs.no fylkesbibl.no
        folkebibl.no museum.no idrett.no priv.no mil.no stat.no dep.no kommune.no herad.no aa.no ah.no bu.no
        fm.no hl.no hm.no jan-mayen.no mr.no nl.no nt.no of.no ol.no oslo.no rl.no sf.no st.no svalbard.no tm.no
        tr.no va.no vf.no gs.aa.no gs.ah.no gs.bu.no gs.fm.no gs.hl.no gs.hm.no gs.jan-mayen.no gs.mr.no
        gs.nl.no gs.nt.no gs.of.no gs.ol.no gs.oslo.no gs.rl.no gs.sf.no gs.st.no gs.svalbard.no gs.tm.no
        gs.tr.no gs.va.no gs.vf.no akrehamn.no åkrehamn.no algard.no ålgård.no arna.no brumunddal.no bryne.no
        bronnoysund.no brønnøysund.no drobak.no drøbak.no egersund.no fetsund.no floro.no florø.no
        fredrikstad.no hokksund.no honefoss.no hønefoss.no jessheim.no jorpeland.no jørpeland.no kirkenes.no
        kopervik.no krokstadelva.no langevag.no langevåg.no leirvik.no mjondalen.no mjøndalen.no mo-i-rana.no
        mosjoen.no mosjøen.no nesoddtangen.no orkanger.no osoyro.no osøyro.no raholt.no råholt.no
        sandnessjoen.no sandnessjøen.no skedsmokorset.no slattum.no spjelkavik.no stathelle.no stavern.no
        stjordalshalsen.no stjørdalshalsen.no tananger.no tranby.no vossevangen.no afjord.no åfjord.no
        agdenes.no al.no ål.no alesund.no ålesund.no alstahaug.no alta.no áltá.no alaheadju.no álaheadju.no
        alvdal.no amli.no åmli.no amot.no åmot.no andebu.no andoy.no andøy.no andasuolo.no ardal.no årdal.no
        aremark.no arendal.no ås.no aseral.no åseral.no asker.no askim.no askvoll.no askoy.no askøy.no asnes.no
        åsnes.no audnedaln.no aukra.no aure.no aurland.no aurskog-holand.no aurskog-høland.no austevoll.no
        austrheim.no averoy.no averøy.no balestrand.no ballangen.no balat.no bálát.no balsfjord.no
        bahccavuotna.no báhccavuotna.no bamble.no bardu.no beardu.no beiarn.no bajddar.no bájddar.no baidar.no
        báidár.no berg.no bergen.no berlevag.no berlevåg.no bearalvahki.no bearalváhki.no bindal.no birkenes.no
        bjarkoy.no bjarkøy.no bjerkreim.no bjugn.no bodo.no bodø.no badaddja.no bådåddjå.no budejju.no bokn.no
        bremanger.no bronnoy.no brønnøy.no bygland.no bykle.no barum.no bærum.no bo.telemark.no bø.telemark.no
        bo.nordland.no bø.nordland.no bievat.no bievát.no bomlo.no bømlo.no batsfjord.no båtsfjord.no
        bahcavuotna.no báhcavuotna.no dovre.no drammen.no drangedal.no dyroy.no dyrøy.no donna.no dønna.no
        eid.no eidfjord.no eidsberg.no eidskog.no eidsvoll.no eigersund.no elverum.no enebakk.no engerdal.no
        etne.no etnedal.no evenes.no evenassi.no evenášši.no evje-og-hornnes.no farsund.no fauske.no fuossko.no
        fuoisku.no fedje.no fet.no finnoy.no finnøy.no fitjar.no fjaler.no fjell.no flakstad.no flatanger.no
        flekkefjord.no flesberg.no flora.no fla.no flå.no folldal.no forsand.no fosnes.no frei.no frogn.no
        froland.no frosta.no frana.no fræna.no froya.no frøya.no fusa.no fyresdal.no forde.no førde.no gamvik.no
        gangaviika.no gáŋgaviika.no gaular.no gausdal.no gildeskal.no gildeskål.no giske.no gjemnes.no
        gjerdrum.no gjerstad.no gjesdal.no gjovik.no gjøvik.no gloppen.no gol.no gran.no grane.no granvin.no
        gratangen.no grimstad.no grong.no kraanghke.no kråanghke.no grue.no gulen.no hadsel.no halden.no
        halsa.no hamar.no hamaroy.no habmer.no hábmer.no hapmir.no hápmir.no hammerfest.no hammarfeasta.no
        hámmárfeasta.no haram.no hareid.no harstad.no hasvik.no aknoluokta.no ákŋoluokta.no hattfjelldal.no
        aarborte.no haugesund.no hemne.no hemnes.no hemsedal.no heroy.more-og-romsdal.no
        herøy.møre-og-romsdal.no heroy.nordland.no herøy.nordland.no hitra.no hjartdal.no hjelmeland.no hobol.no
        hobøl.no hof.no hol.no hole.no holmestrand.no holtalen.no holtålen.no hornindal.no horten.no hurdal.no
        hurum.no hvaler.no hyllestad.no hagebostad.no hægebostad.no hoyanger.no høyanger.no hoylandet.no
        høylandet.no ha.no hå.no ibestad.no inderoy.no inderøy.no iveland.no jevnaker.no jondal.no jolster.no
        jølster.no karasjok.no karasjohka.no kárášjohka.no karlsoy.no galsa.no gálsá.no karmoy.no karmøy.no
        kautokeino.no guovdageaidnu.no klepp.no klabu.no klæbu.no kongsberg.no kongsvinger.no kragero.no
        kragerø.no kristiansand.no kristiansund.no krodsherad.no krødsherad.no kvalsund.no rahkkeravju.no
        ráhkkerávju.no kvam.no kvinesdal.no kvinnherad.no kviteseid.no kvitsoy.no kvitsøy.no kvafjord.no
        kvæfjord.no giehtavuoatna.no kvanangen.no kvænangen.no navuotna.no návuotna.no kafjord.no kåfjord.no
        gaivuotna.no gáivuotna.no larvik.no lavangen.no lavagis.no loabat.no loabát.no lebesby.no davvesiida.no
        leikanger.no leirfjord.no leka.no leksvik.no lenvik.no leangaviika.no leaŋgaviika.no lesja.no
        levanger.no lier.no lierne.no lillehammer.no lillesand.no lindesnes.no lindas.no lindås.no lom.no
        loppa.no lahppi.no láhppi.no lund.no lunner.no luroy.no lurøy.no luster.no lyngdal.no lyngen.no ivgu.no
        lardal.no lerdal.no lærdal.no lodingen.no lødingen.no lorenskog.no lørenskog.no loten.no løten.no
        malvik.no masoy.no måsøy.no muosat.no muosát.no mandal.no marker.no marnardal.no masfjorden.no meland.no
        meldal.no melhus.no meloy.no meløy.no meraker.no meråker.no moareke.no moåreke.no midsund.no
        midtre-gauldal.no modalen.no modum.no molde.no moskenes.no moss.no mosvik.no malselv.no målselv.no
        malatvuopmi.no málatvuopmi.no namdalseid.no aejrie.no namsos.no namsskogan.no naamesjevuemie.no
        nååmesjevuemie.no laakesvuemie.no nannestad.no narvik.no narviika.no naustdal.no nedre-eiker.no
        nes.akershus.no nes.buskerud.no nesna.no nesodden.no nesseby.no unjarga.no unjárga.no nesset.no
        nissedal.no nittedal.no nord-aurdal.no nord-fron.no nord-odal.no norddal.no nordkapp.no davvenjarga.no
        davvenjárga.no nordre-land.no nordreisa.no raisa.no ráisa.no nore-og-uvdal.no notodden.no naroy.no
        nærøy.no notteroy.no nøtterøy.no odda.no oksnes.no øksnes.no oppdal.no oppegard.no oppegård.no orkdal.no
        orland.no ørland.no orskog.no ørskog.no orsta.no ørsta.no os.hedmark.no os.hordaland.no osen.no
        osteroy.no osterøy.no ostre-toten.no østre-toten.no overhalla.no ovre-eiker.no øvre-eiker.no oyer.no
        øyer.no oygarden.no øygarden.no oystre-slidre.no øystre-slidre.no porsanger.no porsangu.no porsáŋgu.no
        porsgrunn.no radoy.no radøy.no rakkestad.no rana.no ruovat.no randaberg.no rauma.no rendalen.no
        rennebu.no rennesoy.no rennesøy.no rindal.no ringebu.no ringerike.no ringsaker.no rissa.no risor.no
        risør.no roan.no rollag.no rygge.no ralingen.no rælingen.no rodoy.no rødøy.no romskog.no rømskog.no
        roros.no røros.no rost.no røst.no royken.no røyken.no royrvik.no røyrvik.no rade.no råde.no salangen.no
        siellak.no saltdal.no salat.no sálát.no sálat.no samnanger.no sande.more-og-romsdal.no
        sande.møre-og-romsdal.no sande.vestfold.no sandefjord.no sandnes.no sandoy.no sandøy.no sarpsborg.no
        sauda.no sauherad.no sel.no selbu.no selje.no seljord.no sigdal.no siljan.no sirdal.no skaun.no
        skedsmo.no ski.no skien.no skiptvet.no skjervoy.no skjervøy.no skierva.no skiervá.no skjak.no skjåk.no
        skodje.no skanland.no skånland.no skanit.no skánit.no smola.no smøla.no snillfjord.no snasa.no snåsa.no
        snoasa.no snaase.no snåase.no sogndal.no sokndal.no sola.no solund.no songdalen.no sortland.no
        spydeberg.no stange.no stavanger.no steigen.no steinkjer.no stjordal.no stjørdal.no stokke.no
        stor-elvdal.no stord.no stordal.no storfjord.no omasvuotna.no strand.no stranda.no stryn.no sula.no
        suldal.no sund.no sunndal.no surnadal.no sveio.no svelvik.no sykkylven.no sogne.no søgne.no somna.no
        sømna.no sondre-land.no søndre-land.no sor-aurdal.no sør-aurdal.no sor-fron.no sør-fron.no sor-odal.no
        sør-odal.no sor-varanger.no sør-varanger.no matta-varjjat.no mátta-várjjat.no sorfold.no sørfold.no
        sorreisa.no sørreisa.no sorum.no sørum.no tana.no deatnu.no time.no tingvoll.no tinn.no tjeldsund.no
        dielddanuorri.no tjome.no tjøme.no tokke.no tolga.no torsken.no tranoy.no tranøy.no tromso.no tromsø.no
        tromsa.no romsa.no trondheim.no troandin.no trysil.no trana.no træna.no trogstad.no trøgstad.no
        tvedestrand.no tydal.no tynset.no tysfjord.no divtasvuodna.no divttasvuotna.no tysnes.no tysvar.no
        tysvær.no tonsberg.no tønsberg.no ullensaker.no ullensvang.no ulvik.no utsira.no vadso.no vadsø.no
        cahcesuolo.no čáhcesuolo.no vaksdal.no valle.no vang.no vanylven.no vardo.no vardø.no varggat.no
        várggát.no vefsn.no vaapste.no vega.no vegarshei.no vegårshei.no vennesla.no verdal.no verran.no
        vestby.no vestnes.no vestre-slidre.no vestre-toten.no vestvagoy.no vestvågøy.no vevelstad.no vik.no
        vikna.no vindafjord.no volda.no voss.no varoy.no værøy.no vagan.no vågan.no voagat.no vagsoy.no
        vågsøy.no vaga.no vågå.no valer.ostfold.no våler.østfold.no valer.hedmark.no våler.hedmark.no *.np nr
        biz.nr info.nr gov.nr edu.nr org.nr net.nr com.nr nu nz ac.nz co.nz cri.nz geek.nz gen.nz govt.nz
        health.nz iwi.nz kiwi.nz maori.nz mil.nz māori.nz net.nz org.nz parliament.nz school.nz om co.om com.om
        edu.om gov.om med.om museum.om net.om org.om pro.om onion org pa ac.pa gob.pa com.pa org.pa sld.pa
        edu.pa net.pa ing.pa abo.pa med.pa nom.pa pe edu.pe gob.pe nom.pe mil.pe org.pe com.pe net.pe pf com.pf
        org.pf edu.pf *.pg ph com.ph net.ph org.ph gov.ph edu.ph ngo.ph mil.ph i.ph pk com.pk net.pk edu.pk
        org.pk fam.pk biz.pk web.pk gov.pk gob.pk gok.pk gon.pk gop.pk gos.pk info.pk pl com.pl net.pl org.pl
        aid.pl agro.pl atm.pl auto.pl biz.pl edu.pl gmina.pl gsm.pl info.pl mail.pl miasta.pl media.pl mil.pl
        nieruchomosci.pl nom.pl pc.pl powiat.pl priv.pl realestate.pl rel.pl sex.pl shop.pl sklep.pl sos.pl
        szkola.pl targi.pl tm.pl tourism.pl travel.pl turystyka.pl gov.pl ap.gov.pl ic.gov.pl is.gov.pl
        us.gov.pl kmpsp.gov.pl kppsp.gov.pl kwpsp.gov.pl psp.gov.pl wskr.gov.pl kwp.gov.pl mw.gov.pl ug.gov.pl
        um.gov.pl umig.gov.pl ugim.gov.pl upow.gov.pl uw.gov.pl starostwo.gov.pl pa.gov.pl po.gov.pl psse.gov.pl
        pup.gov.pl rzgw.gov.pl sa.gov.pl so.gov.pl sr.gov.pl wsa.gov.pl sko.gov.pl uzs.gov.pl wiih.gov.pl
        winb.gov.pl pinb.gov.pl wios.gov.pl witd.gov.pl wzmiuw.gov.pl piw.gov.pl wiw.gov.pl griw.gov.pl
        wif.gov.pl oum.gov.pl sdn.gov.pl zp.gov.pl uppo.gov.pl mup.gov.pl wuoz.gov.pl konsulat.gov.pl
        oirm.gov.pl augustow.pl babia-gora.pl bedzin.pl beskidy.pl bialowieza.pl bialystok.pl bielawa.pl
        bieszczady.pl boleslawiec.pl bydgoszcz.pl bytom.pl cieszyn.pl czeladz.pl czest.pl dlugoleka.pl elblag.pl
        elk.pl glogow.pl gniezno.pl gorlice.pl grajewo.pl ilawa.pl jaworzno.pl jelenia-gora.pl jgora.pl
        kalisz.pl kazimierz-dolny.pl karpacz.pl kartuzy.pl kaszuby.pl katowice.pl kepno.pl ketrzyn.pl klodzko.pl
        kobierzyce.pl kolobrzeg.pl konin.pl konskowola.pl kutno.pl lapy.pl lebork.pl legnica.pl lezajsk.pl
        limanowa.pl lomza.pl lowicz.pl lubin.pl lukow.pl malbork.pl malopolska.pl mazowsze.pl mazury.pl
        mielec.pl mielno.pl mragowo.pl naklo.pl nowaruda.pl nysa.pl olawa.pl olecko.pl olkusz.pl olsztyn.pl
        opoczno.pl opole.pl ostroda.pl ostroleka.pl ostrowiec.pl ostrowwlkp.pl pila.pl pisz.pl podhale.pl
        podlasie.pl polkowice.pl pomorze.pl pomorskie.pl prochowice.pl pruszkow.pl przeworsk.pl pulawy.pl
        radom.pl rawa-maz.pl rybnik.pl rzeszow.pl sanok.pl sejny.pl slask.pl slupsk.pl sosnowiec.pl
        stalowa-wola.pl skoczow.pl starachowice.pl stargard.pl suwalki.pl swidnica.pl swiebodzin.pl
        swinoujscie.pl szczecin.pl szczytno.pl tarnobrzeg.pl tgory.pl turek.pl tychy.pl ustka.pl walbrzych.pl
        warmia.pl warszawa.pl waw.pl wegrow.pl wielun.pl wlocl.pl wloclawek.pl wodzislaw.pl wolomin.pl
        wroclaw.pl zachpomor.pl zagan.pl zarow.pl zgora.pl zgorzelec.pl pm pn gov.pn co.pn org.pn edu.pn net.pn
        post pr com.pr net.pr org.pr gov.pr edu.pr isla.pr pro.pr biz.pr info.pr name.pr est.pr prof.pr ac.pr
        pro aaa.pro aca.pro acct.pro avocat.pro bar.pro cpa.pro eng.pro jur.pro law.pro med.pro recht.pro ps
        edu.ps gov.ps sec.ps plo.ps com.ps org.ps net.ps pt net.pt gov.pt org.pt edu.pt int.pt publ.pt com.pt
        nome.pt pw co.pw ne.pw or.pw ed.pw go.pw belau.pw py com.py coop.py edu.py gov.py mil.py net.py org.py
        qa com.qa edu.qa gov.qa mil.qa name.qa net.qa org.qa sch.qa re asso.re com.re nom.re ro arts.ro com.ro
        firm.ro info.ro nom.ro nt.ro org.ro rec.ro store.ro tm.ro www.ro rs ac.rs co.rs edu.rs gov.rs in.rs
        org.rs ru rw ac.rw co.rw coop.rw gov.rw mil.rw net.rw org.rw sa com.sa net.sa org.sa gov.sa med.sa
        pub.sa edu.sa sch.sa sb com.sb edu.sb gov.sb net.sb org.sb sc com.sc gov.sc net.sc org.sc edu.sc sd
        com.sd net.sd org.sd edu.sd med.sd tv.sd gov.sd info.sd se a.se ac.se b.se bd.se brand.se c.se d.se e.se
        f.se fh.se fhsk.se fhv.se g.se h.se i.se k.se komforb.se kommunalforbund.se komvux.se l.se lanbib.se
        m.se n.se naturbruksgymn.se o.se org.se p.se parti.se pp.se press.se r.se s.se t.se tm.se u.se w.se x.se
        y.se z.se sg com.sg net.sg org.sg gov.sg edu.sg per.sg sh com.sh net.sh gov.sh org.sh mil.sh si sj sk sl
        com.sl net.sl edu.sl gov.sl org.sl sm sn art.sn com.sn edu.sn gouv.sn org.sn perso.sn univ.sn so com.so
        edu.so gov.so me.so net.so org.so sr ss biz.ss com.ss edu.ss gov.ss me.ss net.ss org.ss sch.ss st co.st
        com.st consulado.st edu.st embaixada.st mil.st net.st org.st principe.st saotome.st store.st su sv
        com.sv edu.sv gob.sv org.sv red.sv sx gov.sx sy edu.sy gov.sy net.sy mil.sy com.sy org.sy sz co.sz ac.sz
        org.sz tc td tel tf tg th ac.th co.th go.th in.th mi.th net.th or.th tj ac.tj biz.tj co.tj com.tj edu.tj
        go.tj gov.tj int.tj mil.tj name.tj net.tj nic.tj org.tj test.tj web.tj tk tl gov.tl tm com.tm co.tm
        org.tm net.tm nom.tm gov.tm mil.tm edu.tm tn com.tn ens.tn fin.tn gov.tn ind.tn info.tn intl.tn
        mincom.tn nat.tn net.tn org.tn perso.tn tourism.tn to com.to gov.to net.to org.to edu.to mil.to tr av.tr
        bbs.tr bel.tr biz.tr com.tr dr.tr edu.tr gen.tr gov.tr info.tr mil.tr k12.tr kep.tr name.tr net.tr
        org.tr pol.tr tel.tr tsk.tr tv.tr web.tr nc.tr gov.nc.tr tt co.tt com.tt org.tt net.tt biz.tt info.tt
        pro.tt int.tt coop.tt jobs.tt mobi.tt travel.tt museum.tt aero.tt name.tt gov.tt edu.tt tv tw edu.tw
        gov.tw mil.tw com.tw net.tw org.tw idv.tw game.tw ebiz.tw club.tw 網路.tw 組織.tw 商業.tw tz ac.tz co.tz go.tz
        hotel.tz info.tz me.tz mil.tz mobi.tz ne.tz or.tz sc.tz tv.tz ua com.ua edu.ua gov.ua in.ua net.ua
        org.ua cherkassy.ua cherkasy.ua chernigov.ua chernihiv.ua chernivtsi.ua chernovtsy.ua ck.ua cn.ua cr.ua
        crimea.ua cv.ua dn.ua dnepropetrovsk.ua dnipropetrovsk.ua donetsk.ua dp.ua if.ua ivano-frankivsk.ua
        kh.ua kharkiv.ua kharkov.ua kherson.ua khmelnitskiy.ua khmelnytskyi.ua kiev.ua kirovograd.ua km.ua kr.ua
        krym.ua ks.ua kv.ua kyiv.ua lg.ua lt.ua lugansk.ua lutsk.ua lv.ua lviv.ua mk.ua mykolaiv.ua nikolaev.ua
        od.ua odesa.ua odessa.ua pl.ua poltava.ua rivne.ua rovno.ua rv.ua sb.ua sebastopol.ua sevastopol.ua
        sm.ua sumy.ua te.ua ternopil.ua uz.ua uzhgorod.ua vinnica.ua vinnytsia.ua vn.ua volyn.ua yalta.ua
        zaporizhzhe.ua zaporizhzhia.ua zhitomir.ua zhytomyr.ua zp.ua zt.ua ug co.ug or.ug ac.ug sc.ug go.ug
        ne.ug com.ug org.ug uk ac.uk co.uk gov.uk ltd.uk me.uk net.uk nhs.uk org.uk plc.uk police.uk *.sch.uk us
        dni.us fed.us isa.us kids.us nsn.us ak.us al.us ar.us as.us az.us ca.us co.us ct.us dc.us de.us fl.us
        ga.us gu.us hi.us ia.us id.us il.us in.us ks.us ky.us la.us ma.us md.us me.us mi.us mn.us mo.us ms.us
        mt.us nc.us nd.us ne.us nh.us nj.us nm.us nv.us ny.us oh.us ok.us or.us pa.us pr.us ri.us sc.us sd.us
        tn.us tx.us ut.us vi.us vt.us va.us wa.us wi.us wv.us wy.us k12.ak.us k12.al.us k12.ar.us k12.as.us
        k12.az.us k12.ca.us k12.co.us k12.ct.us k12.dc.us k12.de.us k12.fl.us k12.ga.us k12.gu.us k12.ia.us
        k12.id.us k12.il.us k12.in.us k12.ks.us k12.ky.us k12.la.us k12.ma.us k12.md.us k12.me.us k12.mi.us
        k12.mn.us k12.mo.us k12.ms.us k12.mt.us k12.nc.us k12.ne.us k12.nh.us k12.nj.us k12.nm.us k12.nv.us
        k12.ny.us k12.oh.us k12.ok.us k12.or.us k12.pa.us k12.pr.us k12.sc.us k12.tn.us k12.tx.us k12.ut.us
        k12.vi.us k12.vt.us k12.va.us k12.wa.us k12.wi.us k12.wy.us cc.ak.us cc.al.us cc.ar.us cc.as.us cc.az.us
        cc.ca.us cc.co.us cc.ct.us cc.dc.us cc.de.us cc.fl.us cc.ga.us cc.gu.us cc.hi.us cc.ia.us cc.id.us
        cc.il.us cc.in.us cc.ks.us cc.ky.us cc.la.us cc.ma.us cc.md.us cc.me.us cc.mi.us cc.mn.us cc.mo.us
        cc.ms.us cc.mt.us cc.nc.us cc.nd.us cc.ne.us cc.nh.us cc.nj.us cc.nm.us cc.nv.us cc.ny.us cc.oh.us
        cc.ok.us cc.or.us cc.pa.us cc.pr.us cc.ri.us cc.sc.us cc.sd.us cc.tn.us cc.tx.us cc.ut.us cc.vi.us
        cc.vt.us cc.va.us cc.wa.us cc.wi.us cc.wv.us cc.wy.us lib.ak.us lib.al.us lib.ar.us lib.as.us lib.az.us
        lib.ca.us lib.co.us lib.ct.us lib.dc.us lib.fl.us lib.ga.us lib.gu.us lib.hi.us lib.ia.us lib.id.us
        lib.il.us lib.in.us lib.ks.us lib.ky.us lib.la.us lib.ma.us lib.md.us lib.me.us lib.mi.us lib.mn.us
        lib.mo.us lib.ms.us lib.mt.us lib.nc.us lib.nd.us lib.ne.us lib.nh.us lib.nj.us lib.nm.us lib.nv.us
        lib.ny.us lib.oh.us lib.ok.us lib.or.us lib.pa.us lib.pr.us lib.ri.us lib.sc.us lib.sd.us lib.tn.us
        lib.tx.us lib.ut.us lib.vi.us lib.vt.us lib.va.us lib.wa.us lib.wi.us lib.wy.us pvt.k12.ma.us
        chtr.k12.ma.us paroch.k12.ma.us ann-arbor.mi.us cog.mi.us dst.mi.us eaton.mi.us gen.mi.us mus.mi.us
        tec.mi.us washtenaw.mi.us uy com.uy edu.uy gub.uy mil.uy net.uy org.uy uz co.uz com.uz net.uz org.uz va
        vc com.vc net.vc org.vc gov.vc mil.vc edu.vc ve arts.ve bib.ve co.ve com.ve e12.ve edu.ve firm.ve gob.ve
        gov.ve info.ve int.ve mil.ve net.ve nom.ve org.ve rar.ve rec.ve store.ve tec.ve web.ve vg vi co.vi
        com.vi k12.vi net.vi org.vi vn com.vn net.vn org.vn edu.vn gov.vn int.vn ac.vn biz.vn info.vn name.vn
        pro.vn health.vn vu com.vu edu.vu net.vu org.vu wf ws com.ws net.ws org.ws gov.ws edu.ws yt امارات հայ
        বাংলা бг البحرين бел 中国 中國 الجزائر مصر ею ευ موريتانيا გე ελ 香港 公司.香港 教育.香港 政府.香港 個人.香港 網絡.香港 組織.香港 ಭಾರತ
        ଭାରତ ভাৰত भारतम् भारोत ڀارت ഭാരതം भारत بارت بھارت భారత్ ભારત ਭਾਰਤ ভারত இந்தியா ایران ايران عراق الاردن
        한국 қаз ລາວ ලංකා இலங்கை المغرب мкд мон 澳門 澳门 مليسيا عمان پاکستان پاكستان فلسطين срб пр.срб орг.срб
        обр.срб од.срб упр.срб ак.срб рф قطر السعودية السعودیة السعودیۃ السعوديه سودان 新加坡 சிங்கப்பூர் سورية
        سوريا ไทย ศึกษา.ไทย ธุรกิจ.ไทย รัฐบาล.ไทย ทหาร.ไทย เน็ต.ไทย องค์กร.ไทย تونس 台灣 台湾 臺灣 укр اليمن xxx ye
        com.ye edu.ye gov.ye net.ye mil.ye org.ye ac.za agric.za alt.za co.za edu.za gov.za grondar.za law.za
        mil.za net.za ngo.za nic.za nis.za nom.za org.za school.za tm.za web.za zm ac.zm biz.zm co.zm com.zm
        edu.zm gov.zm info.zm mil.zm net.zm org.zm sch.zm zw ac.zw co.zw gov.zw mil.zw org.zw aaa aarp abarth
        abb abbott abbvie abc able abogado abudhabi academy accenture accountant accountants aco actor ads adult
        aeg aetna afl africa agakhan agency aig airbus airforce airtel akdn alfaromeo alibaba alipay allfinanz
        allstate ally alsace alstom amazon americanexpress americanfamily amex amfam amica amsterdam analytics
        android anquan anz aol apartments app apple aquarelle arab aramco archi army art arte asda associates
        athleta attorney auction audi audible audio auspost author auto autos avianca aws axa azure baby baidu
        banamex bananarepublic band bank bar barcelona barclaycard barclays barefoot bargains baseball
        basketball bauhaus bayern bbc bbt bbva bcg bcn beats beauty beer bentley berlin best bestbuy bet bharti
        bible bid bike bing bingo bio black blackfriday blockbuster blog bloomberg blue bms bmw bnpparibas boats
        boehringer bofa bom bond boo book booking bosch bostik boston bot boutique box bradesco bridgestone
        broadway broker brother brussels build builders business buy buzz bzh cab cafe cal call calvinklein cam
        camera camp canon capetown capital capitalone car caravan cards care career careers cars casa case cash
        casino catering catholic cba cbn cbre cbs center ceo cern cfa cfd chanel channel charity chase chat
        cheap chintai christmas chrome church cipriani circle cisco citadel citi citic city cityeats claims
        cleaning click clinic clinique clothing cloud club clubmed coach codes coffee college cologne comcast
        commbank community company compare computer comsec condos construction consulting contact contractors
        cooking cookingchannel cool corsica country coupon coupons courses cpa credit creditcard creditunion
        cricket crown crs cruise cruises cuisinella cymru cyou dabur dad dance data date dating datsun day dclk
        dds deal dealer deals degree delivery dell deloitte delta democrat dental dentist desi design dev dhl
        diamonds diet digital direct directory discount discover dish diy dnp docs doctor dog domains dot
        download drive dtv dubai dunlop dupont durban dvag dvr earth eat eco edeka education email emerck energy
        engineer engineering enterprises epson equipment ericsson erni esq estate etisalat eurovision eus events
        exchange expert exposed express extraspace fage fail fairwinds faith family fan fans farm farmers
        fashion fast fedex feedback ferrari ferrero fiat fidelity fido film final finance financial fire
        firestone firmdale fish fishing fit fitness flickr flights flir florist flowers fly foo food foodnetwork
        football ford forex forsale forum foundation fox free fresenius frl frogans frontdoor frontier ftr
        fujitsu fun fund furniture futbol fyi gal gallery gallo gallup game games gap garden gay gbiz gdn gea
        gent genting george ggee gift gifts gives giving glass gle global globo gmail gmbh gmo gmx godaddy gold
        goldpoint golf goo goodyear goog google gop got grainger graphics gratis green gripe grocery group
        guardian gucci guge guide guitars guru hair hamburg hangout haus hbo hdfc hdfcbank health healthcare
        help helsinki here hermes hgtv hiphop hisamitsu hitachi hiv hkt hockey holdings holiday homedepot
        homegoods homes homesense honda horse hospital host hosting hot hoteles hotels hotmail house how hsbc
        hughes hyatt hyundai ibm icbc ice icu ieee ifm ikano imamat imdb immo immobilien inc industries infiniti
        ing ink institute insurance insure international intuit investments ipiranga irish ismaili ist istanbul
        itau itv jaguar java jcb jeep jetzt jewelry jio jll jmp jnj joburg jot joy jpmorgan jprs juegos juniper
        kaufen kddi kerryhotels kerrylogistics kerryproperties kfh kia kids kim kinder kindle kitchen kiwi koeln
        komatsu kosher kpmg kpn krd kred kuokgroup kyoto lacaixa lamborghini lamer lancaster lancia land
        landrover lanxess lasalle lat latino latrobe law lawyer lds lease leclerc lefrak legal lego lexus lgbt
        lidl life lifeinsurance lifestyle lighting like lilly limited limo lincoln linde link lipsy live living
        llc llp loan loans locker locus lol london lotte lotto love lpl lplfinancial ltd ltda lundbeck luxe
        luxury macys madrid maif maison makeup man management mango map market marketing markets marriott
        marshalls maserati mattel mba mckinsey med media meet melbourne meme memorial men menu merckmsd miami
        microsoft mini mint mit mitsubishi mlb mls mma mobile moda moe moi mom monash money monster mormon
        mortgage moscow moto motorcycles mov movie msd mtn mtr music mutual nab nagoya natura navy nba nec
        netbank netflix network neustar new news next nextdirect nexus nfl ngo nhk nico nike nikon ninja nissan
        nissay nokia northwesternmutual norton now nowruz nowtv nra nrw ntt nyc obi observer office okinawa
        olayan olayangroup oldnavy ollo omega one ong onl online ooo open oracle orange organic origins osaka
        otsuka ott ovh page panasonic paris pars partners parts party passagens pay pccw pet pfizer pharmacy phd
        philips phone photo photography photos physio pics pictet pictures pid pin ping pink pioneer pizza place
        play playstation plumbing plus pnc pohl poker politie porn pramerica praxi press prime prod productions
        prof progressive promo properties property protection pru prudential pub pwc qpon quebec quest racing
        radio read realestate realtor realty recipes red redstone redumbrella rehab reise reisen reit reliance
        ren rent rentals repair report republican rest restaurant review reviews rexroth rich richardli ricoh
        ril rio rip rocher rocks rodeo rogers room rsvp rugby ruhr run rwe ryukyu saarland safe safety sakura
        sale salon samsclub samsung sandvik sandvikcoromant sanofi sap sarl sas save saxo sbi sbs sca scb
        schaeffler schmidt scholarships school schule schwarz science scot search seat secure security seek
        select sener services seven sew sex sexy sfr shangrila sharp shaw shell shia shiksha shoes shop shopping
        shouji show showtime silk sina singles site ski skin sky skype sling smart smile sncf soccer social
        softbank software sohu solar solutions song sony soy spa space sport spot srl stada staples star
        statebank statefarm stc stcgroup stockholm storage store stream studio study style sucks supplies supply
        support surf surgery suzuki swatch swiss sydney systems tab taipei talk taobao target tatamotors tatar
        tattoo tax taxi tci tdk team tech technology temasek tennis teva thd theater theatre tiaa tickets tienda
        tiffany tips tires tirol tjmaxx tjx tkmaxx tmall today tokyo tools top toray toshiba total tours town
        toyota toys trade trading training travel travelchannel travelers travelersinsurance trust trv tube tui
        tunes tushu tvs ubank ubs unicom university uno uol ups vacations vana vanguard vegas ventures verisign
        versicherung vet viajes video vig viking villas vin vip virgin visa vision viva vivo vlaanderen vodka
        volkswagen volvo vote voting voto voyage vuelos wales walmart walter wang wanggou watch watches weather
        weatherchannel webcam weber website wedding weibo weir whoswho wien wiki williamhill win windows wine
        winners wme wolterskluwer woodside work works world wow wtc wtf xbox xerox xfinity xihuan xin कॉम セール 佛山
        慈善 集团 在线 点看 คอม 八卦 موقع 公益 公司 香格里拉 网站 移动 我爱你 москва католик онлайн сайт 联通 קום 时尚 微博 淡马锡 ファッション орг नेट
        ストア アマゾン 삼성 商标 商店 商城 дети ポイント 新闻 家電 كوم 中文网 中信 娱乐 谷歌 電訊盈科 购物 クラウド 通販 网店 संगठन 餐厅 网络 ком 亚马逊 食品 飞利浦 手机
        ارامكو العليان اتصالات بازار ابوظبي كاثوليك همراه 닷컴 政府 شبكة بيتك عرب 机构 组织机构 健康 招聘 рус 大拿 みんな グーグル 世界
        書籍 网址 닷넷 コム 天主教 游戏 vermögensberater vermögensberatung 企业 信息 嘉里大酒店 嘉里 广东 政务 xyz yachts yahoo yamaxun
        yandex yodobashi yoga yokohama you youtube yun zappos zara zero zip zone zuerich
        """
}
